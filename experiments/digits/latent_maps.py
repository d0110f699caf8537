"""latent-maps: digits in the codes of an autoencoder, a VAE and a semi-supervised model (slides)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import recipe_of, train_quietly
from unknot.plots.style import INK, new_figure, quiet, save

STYLE = "style"
STEPS, LABELS = 4000, 1000
NEIGHBORS = 10
SIZES = {2: "2 dimensions", 50: "50 dimensions"}
PLAIN_ROW, VAE_ROW = "autoencoder", "VAE"
NO_LABELS_ROW, SEMI_ROW = "S17's model, no labels", f"S17's model, {LABELS} labels"
PAIRS = {VAE_ROW: PLAIN_ROW, SEMI_ROW: NO_LABELS_ROW}  # drawn beside each other


def cases(tier: Tier) -> list[Case]:
    """Return an autoencoder beside a VAE, and S17's model without labels beside that with some."""
    steps = 4 if tier == "smoke" else STEPS
    found: list[Case] = []
    for size, column in SIZES.items():
        style = {"family": "normal", "size": size, "inferred_from": ["x"]}
        layer = {"name": "mlp", "hidden": [400]}
        x = {"family": "bernoulli", "parents": [STYLE], "encoder": layer, "decoder": layer}
        digit = {"family": "concrete", "size": 10, "inferred_from": ["x"], "labels": True}
        codes: dict[str, Any] = {"nodes": {STYLE: style, "x": x}}
        s17: dict[str, Any] = {
            "nodes": {
                "digit": digit,
                STYLE: {**style, "inferred_from": ["x", "digit"]},
                "x": {**x, "parents": ["digit", STYLE]},
            }
        }
        some = 50 if tier == "smoke" else LABELS
        rows: dict[str, tuple[dict[str, Any], Any, int]] = {
            # without the divergence from the prior the bound is the loss of an autoencoder
            PLAIN_ROW: (codes, {"name": "beta_vae", "beta": 0.0}, 0),
            VAE_ROW: (codes, {"name": "vae"}, 0),
            NO_LABELS_ROW: (s17, {"name": "vae"}, 0),
            SEMI_ROW: (s17, {"name": "semi_supervised", "alpha": 50.0}, some),
        }
        made: dict[str, dict[str, Any]] = {}
        for row, (model, objective, labels) in rows.items():
            share = {"labeled_share": 0.1} if labels else {}
            train = {
                "steps": steps,
                "batch_size": 128,
                "learning_rate": 1e-3,
                "objective": objective,
                **share,
            }
            data = "digits" if tier == "smoke" else "mnist"
            made[row] = {"data": data, "model": model, "train": train, "labels": labels}
        for row, settings in made.items():
            beside = (
                {"beside": {"title": PAIRS[row], **made[PAIRS[row]]}, "title": row} if row in PAIRS else {}
            )
            found.append({"row": row, "column": column, **settings, **beside})
    return found


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train, and measure the means of the codes of all test images; the second of a pair is drawn beside the first."""
    codes, digits = _codes(settings, seed)
    if pictures is not None and "beside" in settings:
        other, _ = _codes(settings["beside"], seed)
        pair = {settings["beside"]["title"]: other, settings["title"]: codes}
        _draw(
            {title: c if c.shape[1] == 2 else _tsne(c, seed) for title, c in pair.items()}, digits, pictures
        )
    return {"purity": 100 * purity(codes, digits), "scale": float(np.sqrt((codes**2).mean()))}


def _codes(settings: Settings, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of the codes, (N, D), and the digits of the test images."""
    trained = train_quietly(recipe_of(settings, seed, "digit" if settings["labels"] else None))
    assert trained.test is not None
    shown = trained.test.batch(torch.arange(len(trained.test)))
    return trained.model.predict(shown.x).predictions[STYLE].numpy(), shown["digit"].numpy()


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


def _draw(maps: Mapping[str, np.ndarray], digits: np.ndarray, folder: Path) -> None:
    """Draw the maps side by side, with the same axes."""
    figure = new_figure(4.0 * len(maps) + 0.6, 4.0)
    panels = figure.subplots(1, len(maps), sharex=True, sharey=True)
    for axes, (title, codes) in zip(panels, maps.items(), strict=True):
        axes.set_title(title, fontsize=9, color=INK)
        drawn = axes.scatter(*codes.T, c=digits, cmap="tab10", vmin=-0.5, vmax=9.5, s=1.5, linewidths=0)
        quiet(axes)
    bar = figure.colorbar(drawn, ax=list(panels), ticks=range(10), label="digit")
    bar.ax.tick_params(labelsize=7, colors=INK)
    save(figure, folder / "map.png")


EXPERIMENT = Experiment(
    name="latent-maps",
    place="Slides: regular against variational autoencoders, unsupervised against semi-supervised",
    about="Digits in the codes of an autoencoder and a VAE, and in the style of S17's model without and with labels.",
    cases=cases,
    run=run,
    measures=(
        Measure("purity", f"same digit among the {NEIGHBORS} nearest codes", "%", decimals=1),
        Measure("scale", "root mean square of the codes", better="lower"),
    ),
    budgets={"smoke": "seconds", "quick": "one to four CPU minutes a cell and seed"},
    captions={
        "map": "All test images by their codes, by t-SNE where these have 50 dimensions; color: digit."
    },
)
