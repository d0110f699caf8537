"""latent-maps: digits in the codes of an autoencoder, a VAE and a semi-supervised model (slides)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import recipe_of, train_quietly
from unknot.plots.style import INK, new_figure, quiet, save

STYLE = "style"
STEPS, LABELS = 1000, 1000
ITEMS, NEIGHBORS = 1000, 10  # test images on the map, and neighbors of the purity
SIZES = {2: "2 dimensions", 50: "50 dimensions"}


def cases(tier: Tier) -> list[Case]:
    """Return three models with codes of two sizes."""
    steps = {"smoke": 4, "quick": STEPS, "paper": 20 * STEPS}[tier]
    found: list[Case] = []
    for size, column in SIZES.items():
        style = {"family": "normal", "size": size, "inferred_from": ["x"]}
        layer = {"name": "mlp", "hidden": [400]}
        x = {"family": "bernoulli", "parents": [STYLE], "encoder": layer, "decoder": layer}
        digit = {"family": "concrete", "size": 10, "inferred_from": ["x"], "labels": True}
        alone: dict[str, Any] = {"nodes": {STYLE: style, "x": x}}
        known: dict[str, Any] = {
            "nodes": {
                "digit": digit,
                STYLE: {**style, "inferred_from": ["x", "digit"]},
                "x": {**x, "parents": ["digit", STYLE]},
            }
        }
        # without the divergence from the prior the bound is the loss of an autoencoder
        rows: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
            "autoencoder": (alone, {"name": "beta_vae", "beta": 0.0}),
            "VAE": (alone, {"name": "vae"}),
            f"semi-supervised, {LABELS} labels": (known, {"name": "semi_supervised", "alpha": 50.0}),
        }
        for row, (model, objective) in rows.items():
            train = {"steps": steps, "batch_size": 128, "learning_rate": 1e-3, "objective": objective}
            labels = (50 if tier == "smoke" else LABELS) if model is known else 0
            place = {"row": row, "column": column, "data": "digits" if tier == "smoke" else "mnist"}
            found.append({**place, "model": model, "train": train, "labels": labels})
    return found


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train, and measure the codes (means) of test images; t-SNE maps codes of 50 dimensions to two."""
    trained = train_quietly(recipe_of(settings, seed, "digit" if settings["labels"] else None))
    assert trained.test is not None
    shown = trained.test.batch(torch.arange(min(ITEMS, len(trained.test))))
    codes = trained.model.predict(shown.x).predictions[STYLE].numpy()
    digits = shown["digit"].numpy()
    mapped = codes if codes.shape[1] == 2 else _tsne(codes, seed)
    if pictures is not None:
        _draw(mapped, digits, pictures)
    return {
        "purity": 100 * purity(codes, digits),
        "map_purity": 100 * purity(mapped, digits),
        "scale": float(np.sqrt((codes**2).mean())),
    }


def purity(codes: np.ndarray, classes: np.ndarray) -> float:
    """Return the share of the nearest neighbors of an item that have its class; codes are ``(N, D)``.

    >>> purity(np.arange(40.0)[:, None], np.arange(40) // 20) > 0.8
    True
    """
    from sklearn.neighbors import NearestNeighbors

    near = NearestNeighbors(n_neighbors=NEIGHBORS).fit(codes).kneighbors(return_distance=False)  # (N, K)
    return float((classes[near] == classes[:, None]).mean())


def _tsne(codes: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.manifold import TSNE

    return np.asarray(TSNE(init="pca", perplexity=30, random_state=seed).fit_transform(codes))


def _draw(mapped: np.ndarray, digits: np.ndarray, folder: Path) -> None:
    figure = new_figure(4.2, 4.0)
    axes = figure.add_subplot()
    drawn = axes.scatter(mapped[:, 0], mapped[:, 1], c=digits, cmap="tab10", vmin=-0.5, vmax=9.5, s=5)
    figure.colorbar(drawn, ax=axes, ticks=range(10), label="digit").ax.tick_params(labelsize=7, colors=INK)
    quiet(axes)
    save(figure, folder / "map.png")


EXPERIMENT = Experiment(
    name="latent-maps",
    place="Slides: regular against variational autoencoders, unsupervised against semi-supervised",
    about="Digits in the codes of three models: the style of a semi-supervised model encodes less of the digit.",
    cases=cases,
    run=run,
    measures=(
        Measure("purity", f"same digit among the {NEIGHBORS} nearest codes", "%", decimals=1),
        Measure("map_purity", f"same digit among the {NEIGHBORS} nearest on the map", "%", decimals=1),
        Measure("scale", "root mean square of the codes", better="lower"),
    ),
    budgets={"smoke": "seconds", "quick": "half a CPU minute a cell and seed", "paper": "20 times the steps"},
    captions={
        "map": f"{ITEMS} test images by their codes, by t-SNE where these have 50 dimensions; color: digit."
    },
)
