"""mnist-analogies and mnist-style-grid: one style drawn as every digit (S17 Fig. 2a and 2b)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.digits.digit_pictures import S17_ROW, Look, class_and_style
from experiments.digits.mnist import BEST, S17, S17_TRAIN, S17_VIEWS, VIEWS_TRAIN

STYLE = 6  # dimensions: more of them draw sharper images, and encode more of the digit
X: dict[str, Any] = {"family": "bernoulli", "decoder": {"name": "mlp", "hidden": [400, 400]}}
STEPS = 1000
TRAIN: dict[str, Any] = {**VIEWS_TRAIN, "steps": STEPS}
VIEWS = {"augment": S17_VIEWS["augment"]}


def regularized(train: Mapping[str, Any], **regularizers: Any) -> dict[str, Any]:
    """Return training settings with further regularizers."""
    objective = train["objective"]
    more = {**objective.get("regularizers", {}), **regularizers}
    return {**train, "objective": {**objective, "regularizers": more}}


def separate_encoders(whiten: bool = False) -> dict[str, Any]:
    """Return class and style with an encoder each; for the digit, that of a row of the experiment ``mnist``."""
    two = {"name": "parts", "shapes": BEST["x"]["encoder"], "pixels": {"name": "conv", "dropout": 0.0}}
    nodes = class_and_style(STYLE, {**X, "encoder": two}, whiten)
    nodes["digit"] |= {"encoder": {"name": "mlp", "part": "shapes"}, "gradient": "detached"}
    nodes["style"]["encoder"] = {**nodes["style"].get("encoder", {"name": "mlp"}), "part": "pixels"}
    return {"augment": BEST["augment"], "nodes": nodes}


OURS = separate_encoders(whiten=True)
BOUND_TRAIN: dict[str, Any] = {**VIEWS_TRAIN, "steps": 2 * STEPS, "precision": "bf16-mixed"}
# with a decoder weight of 1 the decoder encodes the style in stray pixels
OURS_TRAIN = regularized(BOUND_TRAIN, swap={"weight": 4.0, "decoder_weight": 0.25}, independence=20000.0)
# without augmentation: a classifier trained on augmented digits predicts an 8 for slightly blurred images
CLASSIFIER = {
    "model": {"style": 2, "width": 32},
    "train": {"steps": 1500, "batch_size": 100, "learning_rate": {"name": "cosine", "start": 2e-3}},
}
ANALOGIES = Look(
    data="mnist",
    labels=100,
    model=OURS,
    train=OURS_TRAIN,
    classifier=CLASSIFIER,
    picture="analogies",
    more_rows={
        S17_ROW: {"model": S17, "train": S17_TRAIN},
        "the bound alone, networks and steps as ours": {"model": separate_encoders(), "train": BOUND_TRAIN},
        "the bound alone": {"model": {**VIEWS, "nodes": class_and_style(STYLE, X)}, "train": TRAIN},
    },
    goals={"read": 99.5, "shift": 0.10, "error": 1.36, "style_linear": 85.0, "style_neighbors": 80.0},
).experiment(
    name="mnist-analogies",
    place="S17 Fig. 2a, S16 Fig. 3",
    about=f"Visual analogies on MNIST: the digit changes, {STYLE} dimensions of style are kept.",
    quick="from 3 to 8 CPU minutes a seed",
)
STYLE_GRID = Look(
    data="mnist",
    labels=100,
    model={**VIEWS, "style": 2},
    train={**VIEWS_TRAIN, "steps": 1600},
    classifier=CLASSIFIER,
    picture="style-grid",
    more_rows={S17_ROW: {"model": {**S17, "style": 2}, "train": S17_TRAIN}},
).experiment(
    name="mnist-style-grid",
    place="S17 Fig. 2b, S16 Fig. 3",
    about="Two dimensions of style on MNIST, drawn on a grid for every digit.",
    quick="about 5 CPU minutes a seed",
)
EXPERIMENTS = (ANALOGIES, STYLE_GRID)
