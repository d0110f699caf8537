"""celeba: the attribute of a face that each dimension of the style encodes (E19 sec. 5.1)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import torch

from experiments.faces.faces import toy_faces
from experiments.ledger.codes import CLASS, STYLE, fixed_traces
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import fitted
from unknot.data import load
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.objectives import information
from unknot.plots.images import image_grid
from unknot.plots.style import save
from unknot.workflow.pictures import traversals
from unknot.workflow.trained_model import TrainedModel

DIMENSIONS = 20
STEPS, SIDE = 1500, 32
LIVE = 0.1
NAMED = {"smiling": "Smiling", "eyeglasses": "Eyeglasses", "male": "Male"}  # measure -> attribute
SHOWN = 8  # dimensions in the picture
NODES: dict[str, Any] = {
    CLASS: {"family": "concrete", "size": 2, "inferred_from": ["x"]},
    STYLE: {
        "family": "normal",
        "size": DIMENSIONS,
        "inferred_from": ["x"],
        "encoder": {"name": "mlp", "hidden": [256]},
    },
    "x": {
        "family": "bernoulli",
        "parents": [CLASS, STYLE],
        "encoder": {"name": "conv", "channels": [32, 32, 64]},
    },
}
OBJECTIVES: dict[str, dict[str, Any]] = {
    "HFVAE, β = 5, γ = 3": {"name": "hfvae", "beta": 5.0, "gamma": 3.0},
    "β-VAE, β = 8": {"name": "beta_vae", "beta": 8.0},
}
PCA = f"PCA of the pixels, {DIMENSIONS} components"


def cases(tier: Tier) -> list[Case]:
    """Return E19's two objectives with its priors, and principal components as a baseline."""
    data = {"side": {"smoke": 0, "quick": SIDE}[tier]}
    steps = {"smoke": 4, "quick": STEPS}[tier]
    train = {"steps": steps, "batch_size": 40 if tier == "smoke" else 128, "learning_rate": 1e-3}
    found: list[Case] = [
        {"row": row, **data, "model": {"nodes": NODES}, "train": {**train, "objective": objective}}
        for row, objective in OBJECTIVES.items()
    ]
    return [*found, {"row": PCA, **data}]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train without attributes, and measure how well each dimension predicts each attribute of the test faces."""
    data = load("celeba", size=settings["side"]) if settings["side"] else _toys()
    train, test = data.split("train"), data.split("test")
    x = test.batch(torch.arange(len(test))).x
    attributes = {name: f.values.numpy() for name, f in test.factors.items() if f.kind == "binary"}
    if "model" not in settings:
        return _effect_numbers(_components(train, x.flatten(1).numpy()), attributes)
    model = fitted(replace(train, factors={}), seed, settings["train"], settings["model"])
    codes = model.predict(x).predictions[STYLE].numpy()
    q, p = fixed_traces(model, x)
    known = information(q, len(train)).dimensions[STYLE].numpy()
    if pictures is not None:
        _draw(model, x, known, effects(codes, attributes), list(attributes), pictures)
    return {
        **_effect_numbers(codes, attributes),
        "live": float((known > LIVE).sum()),
        "reconstruction": -float(p["x"].log_prob.mean()),
    }


def effects(codes: np.ndarray, attributes: dict[str, np.ndarray]) -> np.ndarray:
    """Return how well each dimension predicts each attribute, (D, A): 2 · AUC - 1, from -1 to 1, 0 for chance.

    >>> effects(np.arange(4.0)[:, None], {"late": np.array([0, 0, 1, 1])}).tolist()
    [[1.0]]
    """
    from sklearn.metrics import roc_auc_score

    return np.array(
        [[2 * roc_auc_score(values, code) - 1 for values in attributes.values()] for code in codes.T]
    )


def _effect_numbers(codes: np.ndarray, attributes: dict[str, np.ndarray]) -> Numbers:
    """Return the effect of the best dimension on each attribute, and its difference to the second."""
    ranked = np.sort(np.abs(effects(codes, attributes)), 0)[::-1]  # (D, A), the best first
    best = dict(zip(attributes, ranked[0], strict=True))
    named = {key: float(best[name]) for key, name in NAMED.items()}
    return {"attributes": float(ranked[0].mean()), "gap": float((ranked[0] - ranked[1]).mean()), **named}


def _components(train: Dataset, x: np.ndarray) -> np.ndarray:
    """Return test pixels (N, P) in principal components of the training images."""
    from sklearn.decomposition import PCA as Components

    pixels = train.batch(torch.arange(len(train))).x.flatten(1).numpy()
    return np.asarray(Components(DIMENSIONS, random_state=0).fit(pixels).transform(x))


def _toys() -> Dataset:
    """Return toy faces with the direction of the light as attributes."""
    data = toy_faces(12, 20, 0)
    light = data.factors["light"].values
    facts = {name: (light[:, k] > light[:, k].median()).long() for k, name in enumerate(NAMED.values())}
    return replace(data, factors={name: Factor(name, "binary", values) for name, values in facts.items()})


def _draw(
    model: TrainedModel,
    x: torch.Tensor,
    known: np.ndarray,
    effect: np.ndarray,
    names: list[str],
    folder: Path,
) -> None:
    """Draw a face; in each row one dimension varies, with the attribute that it predicts best."""
    order = np.argsort(-known)[:SHOWN].tolist()
    best = [int(np.abs(effect[d]).argmax()) for d in order]
    titles = [fill(name.replace("_", " "), 10) for name in names]  # longer lines would leave the page
    rows = [f"{titles[a]}\n{effect[d, a]:+.2f}" for d, a in zip(order, best, strict=True)]
    swept = traversals(model, x[:1], model.node(STYLE), order)
    save(image_grid(swept, rows=rows, ink=False, cell=0.6), folder / "traversals.png")


EXPERIMENT = Experiment(
    name="celeba",
    place="E19 sec. 5.1, CelebA",
    about="10,000 faces without attributes: which attribute each dimension of the style predicts.",
    cases=cases,
    run=run,
    measures=(
        Measure("attributes", "effect of the best dimension, mean of all attributes", "", "higher"),
        Measure("gap", "its difference to the second", "", "higher"),
        *(
            Measure(key, f"effect of the best dimension on {name}", "", "higher")
            for key, name in NAMED.items()
        ),
        Measure("live", f"style dimensions above {LIVE:g} nats", "", "higher", 1),
        Measure("reconstruction", "-log p(x | class, style)", "nats", decimals=1),
    ),
    budgets={
        "smoke": "seconds",
        "quick": "3 CPU minutes a row and seed",
    },
    captions={
        "traversals": "One test face; in each row one dimension of the style varies, by decreasing information. The "
        "label is the attribute that it predicts best, with its effect."
    },
)
