"""svhn-analogies: a house number's look in every other digit (S17 Fig. 2a)."""

from __future__ import annotations

from typing import Any

from experiments.digits.digit_pictures import Look, class_and_style
from experiments.digits.mnist_analogies import regularized
from experiments.digits.svhn import BEST, BEST_TRAIN

STYLE = 32  # dimensions: light, the colors of wall and number, their contrast, place and slant, neighbors
COMPONENTS = 200  # of the photographs: 98 % of their variance
STEPS = 1500
# Noise of brightness, and of what is not brightness: hues differ little, and with one noise they are learned last.
NOISE, COLOR_NOISE = 0.1, 0.05
TRAIN: dict[str, Any] = {**BEST_TRAIN, "steps": STEPS}


def model(style: int, separate: bool = True) -> dict[str, Any]:
    """S17's class and style; what the digit makes is multiplied by what the style makes.

    Images are made of principal components, and the style is read from these; the digit has convolutions, which the
    generator does not reach. ``separate``: the digit is kept out of the style as in mnist-analogies.
    """
    components = "experiments.digits.components"
    x = {
        "family": {
            "name": "experiments.digits.color_noise:ColorNormalLikelihood",
            "scale": NOISE,
            "color_scale": COLOR_NOISE,
        },
        "encoder": {
            "name": "parts",
            "shapes": "conv",
            "pixels": {"name": f"{components}:ComponentTrunk", "components": COMPONENTS},
        },
        "decoder": {
            "name": f"{components}:ComponentDecoder",
            "components": COMPONENTS,
            "decoder": {"name": "experiments.faces.product:ProductDecoder", "width": 384},
        },
    }
    nodes = class_and_style(style, x, whiten=separate)
    nodes["digit"] |= {"encoder": {"name": "mlp", "part": "shapes"}, "gradient": "detached"}
    head = nodes["style"].get("encoder", {"name": "mlp"})
    nodes["style"]["encoder"] = {**head, "part": "pixels", "hidden": [256]}
    return {"augment": BEST["augment"], "nodes": nodes}


MODEL = model(STYLE)
OURS_TRAIN = regularized(TRAIN, swap={"weight": 40.0, "decoder_weight": 0.0}, independence=10000.0)
READER = {
    "model": {
        "style": 2,
        "width": 32,
        "augment": {"turn": 0.1, "scale": 0.1, "shear": 0.1, "shift": 0.1},
        "x": {"encoder": {"name": "conv", "channels": [32, 64, 128], "pooled": True}},
    },
    "train": {"steps": 1000, "batch_size": 100, "learning_rate": {"name": "cosine", "start": 2e-3}},
}

EXPERIMENT = Look(
    data="svhn",
    labels=1000,
    model=MODEL,
    train=OURS_TRAIN,
    reader=READER,
    picture="analogies",
    beside={
        "the bound alone, networks and steps as ours": {
            "model": model(STYLE, separate=False),
            "train": TRAIN,
        },
        "the bound alone, Bernoulli pixels by convolutions": {
            "model": BEST,
            "train": {**BEST_TRAIN, "steps": 1000},
        },
    },
    goals={
        "read": 96.0,
        "color": 0.95,
        "background": 0.95,
        "ink": 0.95,
        "style_linear": 75.9,
        "style_neighbors": 81.2,
    },
).experiment(
    name="svhn-analogies",
    place="S17 Fig. 2a, S16 Fig. 3",
    about=f"Visual analogies on SVHN: the digit changes, {STYLE} dimensions of style are kept.",
    quick="from 4 to 8 CPU minutes a seed",
)
