"""mnist-analogies: a digit's style in every other digit (S17 Fig. 2a), and what makes the style stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.digits.digit_pictures import Look, class_and_style
from experiments.digits.mnist import BEST, S17_VIEWS, VIEWS_TRAIN

STYLE = 6  # dimensions: more make sharper images, and room for the digit
X: dict[str, Any] = {"family": "bernoulli", "decoder": {"name": "mlp", "hidden": [400, 400]}}
STEPS = 1000  # of the rows that have one of the means alone
TRAIN: dict[str, Any] = {**VIEWS_TRAIN, "steps": STEPS}

# Two views that agree, for a good encoder; the generator sees the images as they are.
VIEWS = {"augment": S17_VIEWS["augment"]}


def model(whiten: bool = False, apart: bool = False) -> dict[str, Any]:
    """S17's class and style, convolutions as encoder and a perceptron as decoder."""
    return {**VIEWS, "nodes": class_and_style(STYLE, X, whiten, apart)}


def regularized(train: Mapping[str, Any], **regularizers: Any) -> dict[str, Any]:
    """Training settings with further regularizers."""
    objective = train["objective"]
    more = {**objective.get("regularizers", {}), **regularizers}
    return {**train, "objective": {**objective, "regularizers": more}}


def _priced(between: float) -> dict[str, Any]:
    """A price on the correlation of digit and style (E19's (A), within Eq. 8), which are read apart from each other.

    A style that is read from the digit too would have to be worked out at the digits of other items.
    """
    objective = {**TRAIN["objective"], "between": between}
    return {"model": model(apart=True), "train": {**TRAIN, "objective": objective}}


def doubled(whiten: bool = False) -> dict[str, Any]:
    """The encoder of mnist's best row for the digit, and convolutions of its own for the style."""
    two = {"name": "parts", "shapes": BEST["x"]["encoder"], "pixels": {"name": "conv", "dropout": 0.0}}
    nodes = class_and_style(STYLE, {**X, "encoder": two}, whiten)
    nodes["digit"] |= {"encoder": {"name": "mlp", "part": "shapes"}, "gradient": "detached"}
    nodes["style"]["encoder"] = {**nodes["style"].get("encoder", {"name": "mlp"}), "part": "pixels"}
    return {"augment": BEST["augment"], "nodes": nodes}


# Of the style of swapped items the generator learns a quarter: with all of it, it writes styles in specks.
APART: dict[str, Any] = {"swap": {"weight": 4.0, "decoder_weight": 0.25}, "independence": 20000.0}
OURS = doubled(True)
BOUND_TRAIN: dict[str, Any] = {**VIEWS_TRAIN, "steps": 2 * STEPS, "precision": "bf16-mixed"}
OURS_TRAIN = regularized(BOUND_TRAIN, **APART)
# Without jitter: a reader trained on jittered digits takes whatever is a little blurred for an eight.
READER = {
    "model": {"style": 2, "width": 32},
    "train": {"steps": 1500, "batch_size": 100, "learning_rate": {"name": "cosine", "start": 2e-3}},
}

EXPERIMENT = Look(
    data="mnist",
    labels=100,
    model=OURS,
    train=OURS_TRAIN,
    reader=READER,
    picture="analogies",
    beside={
        **{
            f"swapped items teach the generator {what}": {
                "model": OURS,
                "train": regularized(OURS_TRAIN, swap={"weight": 4.0, "decoder_weight": share}),
            }
            for what, share in (("the digit alone", 0.0), ("digit and style", 1.0))
        },
        "the bound alone, networks and steps as ours": {"model": doubled(), "train": BOUND_TRAIN},
        "the bound alone": {"model": model(), "train": TRAIN},
        "read apart, between = 6": _priced(6.0),
        "whiten": {"model": model(True), "train": TRAIN},
        "swap = 1": {"model": model(), "train": regularized(TRAIN, swap=1.0)},
        "independence = 5000": {"model": model(), "train": regularized(TRAIN, independence=5000.0)},
        "read apart, between = 3": _priced(3.0),
    },
    goals={"read": 99.5, "shift": 0.10, "error": 1.36, "style_linear": 85.0, "style_neighbors": 80.0},
).experiment(
    name="mnist-analogies",
    place="S17 Fig. 2a, S16 Fig. 3",
    about=f"Visual analogies on MNIST: the digit changes, {STYLE} dimensions of style are kept.",
    quick="from 3 to 8 CPU minutes a seed",
)
