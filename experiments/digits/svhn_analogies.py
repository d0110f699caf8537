"""svhn-analogies: the style of a house number drawn as every digit (S17 Fig. 2c and 2d)."""

from __future__ import annotations

from typing import Any

from experiments.digits.digit_pictures import S17_ROW, Look, class_and_style
from experiments.digits.mnist_analogies import regularized
from experiments.digits.svhn import BEST, BEST_TRAIN, S17
from experiments.digits.svhn import TRAIN as S17_TRAIN

STYLE = (
    32  # dimensions: brightness, colors of wall and number, contrast, position and slant, neighboring digits
)
COMPONENTS = 200  # principal components; they have 98 % of the variance
STEPS = 1500
# Standard deviations of brightness and of color. Hues vary little: with one deviation for both they are learned last.
NOISE, COLOR_NOISE = 0.1, 0.05
TRAIN: dict[str, Any] = {**BEST_TRAIN, "steps": STEPS}


def model(whiten: bool = True) -> dict[str, Any]:
    """Return S17's class and style with a decoder that multiplies a function of the digit and one of the style.

    The decoder predicts principal components, and the encoder of the style gets them. The digit has a convolutional
    encoder of its own, which the decoder does not train. ``whiten``: the style is whitened within each digit.
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
            "decoder": {"name": "experiments.faces.networks:ProductDecoder", "width": 384},
        },
    }
    nodes = class_and_style(STYLE, x, whiten)
    nodes["digit"] |= {"encoder": {"name": "mlp", "part": "shapes"}, "gradient": "detached"}
    head = nodes["style"].get("encoder", {"name": "mlp"})
    nodes["style"]["encoder"] = {**head, "part": "pixels", "hidden": [256]}
    return {"augment": BEST["augment"], "nodes": nodes}


CLASSIFIER_TRAIN = {"steps": 1000, "batch_size": 100, "learning_rate": {"name": "cosine", "start": 2e-3}}
CLASSIFIER = {
    "model": {
        "style": 2,
        "width": 32,
        "augment": {"turn": 0.1, "scale": 0.1, "shear": 0.1, "shift": 0.1},
        "x": {"encoder": {"name": "conv", "channels": [32, 64, 128], "pooled": True}},
    },
    "train": CLASSIFIER_TRAIN,
}
S17_EVERY_LABEL_ROW, EVERY_LABEL = "S17's model, all labels", "all"
COLOR_GOALS = {"color": 0.95, "background": 0.95, "ink": 0.95}
EXPERIMENT = Look(
    data="svhn",
    labels=1000,
    model=model(),
    train=regularized(TRAIN, swap={"weight": 40.0, "decoder_weight": 0.0}, independence=10000.0),
    classifier=CLASSIFIER,
    picture="analogies",
    more_rows={
        S17_ROW: {"model": S17, "train": S17_TRAIN},
        S17_EVERY_LABEL_ROW: {"model": S17, "train": S17_TRAIN, "labels": EVERY_LABEL},
        "the bound alone, networks and steps as ours": {"model": model(whiten=False), "train": TRAIN},
        "the bound alone, Bernoulli pixels by convolutions": {
            "model": BEST,
            "train": {**BEST_TRAIN, "steps": 1000},
        },
    },
    goals={"read": 96.0, **COLOR_GOALS, "style_linear": 75.9, "style_neighbors": 81.2},
).experiment(
    name="svhn-analogies",
    place="S17 Figs. 2c and 2d, S16 Fig. 3",
    about=f"Visual analogies on SVHN: the digit changes, {STYLE} dimensions of style are kept.",
    quick="from 4 to 8 CPU minutes a seed",
)
