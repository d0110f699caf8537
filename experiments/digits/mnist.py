"""mnist: test error from 100, 600, 1000 and 3000 labels (the table of S17 Fig. 3), and what brings it down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.digits.digit_errors import (
    MEASURES,
    NETWORK_ERROR,
    alone,
    column,
    run,
    settings_for,
    table,
    without_agreement,
    without_decoder,
)
from experiments.digits.evidence import EVIDENCE_HEAD
from experiments.ledger.experiment import Case, Experiment, Tier, Yardstick

LABELS = (100, 600, 1000, 3000)
DRAWS = 2  # of the style for each digit, in the importance-weighted prediction

# S17's networks: one hidden layer of 512 in encoder and decoder, ten dimensions of style.
S17: dict[str, Any] = {
    "style": 10,
    "x": {"encoder": {"name": "mlp", "hidden": [512]}, "decoder": {"name": "mlp", "hidden": [512]}},
}
S17_TRAIN: dict[str, Any] = {
    "steps": 15000,
    "batch_size": 100,
    "labeled_share": 0.1,
    "objective": {"name": "semi_supervised", "alpha": 100.0},
    "learning_rate": {"name": "cosine", "start": 1e-3},
}
CONCRETE_STEPS = 50_000  # ten CPU minutes; the error still falls after 15,000
# The predictions for an image and its augmented view must agree.
S17_VIEWS: dict[str, Any] = {**S17, "augment": {"turn": 0.25, "scale": 0.2, "shear": 0.25, "shift": 0.1}}
BEST: dict[str, Any] = {
    "style": 8,
    "augment": {"turn": 0.12, "scale": 0.1, "shear": 0.12, "shift": 0.06, "bend": 0.05},
    "x": {"encoder": {"name": "conv", "channels": [16, 32, 64], "pooled": True}},
}
VIEWS_TRAIN: dict[str, Any] = {
    "steps": 4000,
    "batch_size": 256,
    "labeled_share": 0.25,
    "objective": {
        "name": "semi_supervised",
        "alpha": 400.0,
        "regularizers": {"agreement": {"weight": 400.0, "confidence": 0.9}},
    },
    "learning_rate": {"name": "cosine", "start": 2e-3},
}
BEST_TRAIN = {**VIEWS_TRAIN, "steps": 2500}
ABLATION_STEPS = 1000
# Evidence of the decoder where the network is not certain, with a search for the other latent variables.
EVIDENCE: dict[str, Any] = {"weight": 0.4, "steps": 40, "below": 0.99}
PIXELS = {"name": "mlp", "part": "pixels"}
# The digit has a convolutional encoder, trained on labels and agreement alone; style and pose have a perceptron. After
# training the decoder's evidence counts too.
APART: dict[str, Any] = {
    "augment": BEST["augment"],
    "nodes": {
        "digit": {
            "family": "concrete",
            "size": 10,
            "inferred_from": ["x"],
            "labels": True,
            "gradient": "detached",
            "encoder": {"name": EVIDENCE_HEAD, "part": "shapes", **EVIDENCE},
        },
        "style": {"family": "normal", "size": 12, "inferred_from": ["x", "digit"], "encoder": PIXELS},
        "pose": {"family": "normal", "size": 6, "inferred_from": ["x", "digit"], "encoder": PIXELS},
        "x": {
            "family": "bernoulli",
            "parents": ["digit", "style", "pose"],
            "encoder": {"name": "parts", "shapes": BEST["x"]["encoder"], "pixels": "mlp"},
            "decoder": {
                "name": "experiments.digits.posed_decoder:PosedDecoder",
                "template": {"name": "mlp", "hidden": [400, 400]},
            },
        },
    },
}
APART_TRAIN = {**BEST_TRAIN, "precision": "bf16-mixed"}

BEST_ROW = "convolutions, two views that agree, separate encoders of digit and style"
JOINT_ROW = "convolutions, two views that agree"
S17_ROW = "S17's networks, two views that agree"
CONCRETE_ROW = "S17's networks, Concrete digit, Eq. 8"
LONGER_ROW = f"{CONCRETE_ROW}, {CONCRETE_STEPS:,} steps"
PLUG_IN_ROW = "S17's networks, plug-in digit, Eq. 8"
NO_DECODER_ROW = "separate encoders, without the generative model"
EVERY_LABEL_ROW, EVERY_LABEL = "S17's encoder, all 60,000 labels", "all labels"


def cases(tier: Tier) -> list[Case]:
    """Return the best rows, S17's networks with every estimator for the digit, the baselines and the ablation."""
    long = {**S17_TRAIN, "steps": CONCRETE_STEPS}
    eq_nine = {**S17_TRAIN, "objective": {"name": "importance_weighted", "alpha": 100.0}}

    def of(model: Mapping[str, Any], train: Mapping[str, Any]) -> dict[str, Any]:
        return settings_for("mnist", 0, model, train, tier, DRAWS)

    rows = [
        (BEST_ROW, settings_for("mnist", 0, APART, APART_TRAIN, tier)),
        (JOINT_ROW, of(BEST, BEST_TRAIN)),
        (S17_ROW, of(S17_VIEWS, VIEWS_TRAIN)),
        (LONGER_ROW, of(S17, long)),
        (CONCRETE_ROW, of(S17, S17_TRAIN)),
        (PLUG_IN_ROW, of({**S17, "gradient": "plug_in"}, S17_TRAIN)),
        ("S17's networks, enumerated digit, Eq. 8", of({**S17, "gradient": "enumerate"}, S17_TRAIN)),
        ("S17's networks, Concrete digit, Eq. 9, 5 draws", of({**S17, "samples": 5}, eq_nine)),
    ]
    found = table(rows, LABELS[:1] if tier == "smoke" else LABELS)
    for row, named in ((JOINT_ROW, "the best encoder, jittered"), (CONCRETE_ROW, "S17's encoder")):
        found += [alone(case, f"labels alone: {named}") for case in found if case["row"] == row]
    together = next(case for case in found if case["row"] == JOINT_ROW)
    s17 = next(case for case in found if case["row"] == S17_ROW)
    return [
        *found,
        without_decoder(_without_evidence(found[0]), NO_DECODER_ROW),
        without_decoder(s17, f"{S17_ROW}, without the generative model"),
        _every_label(next(case for case in found if case["row"] == CONCRETE_ROW), tier),
        *_ablation(together, tier),
    ]


def _every_label(case: Case, tier: Tier) -> Case:
    """Return S17's encoder trained on all labels: what a network of this size can reach."""
    labels = 50 if tier == "smoke" else "all"
    train = {**case["train"], "objective": {"name": "supervised", "alpha": 1.0}, "labeled_share": None}
    place = {"row": EVERY_LABEL_ROW, "column": EVERY_LABEL, "labels": labels}
    return {**case, **place, "train": train, "draws": 0}


def _without_evidence(case: Case) -> Case:
    nodes = dict(case["model"]["nodes"])
    nodes["digit"] = {**nodes["digit"], "encoder": {"name": "mlp", "part": "shapes"}}
    return {**case, "model": {**case["model"], "nodes": nodes}}


def _ablation(whole: Case, tier: Tier) -> list[Case]:
    """Return a row at M = 100 with fewer steps, and with one part removed or changed at a time."""
    model, train = whole["model"], dict(whole["train"])
    if tier != "smoke":
        train["steps"] = ABLATION_STEPS
    encoder_only = {**train, "objective": {**train["objective"], "name": "supervised"}}
    parts = {
        "all parts": (model, train),
        "without agreement": (model, without_agreement(train)),
        "without agreement and jitter": ({**model, "augment": None}, without_agreement(train)),
        "without the generative model": (model, encoder_only),
    }
    return [
        {**whole, "row": f"{ABLATION_STEPS} steps: {part}", "model": changed, "train": how, "draws": 0}
        for part, (changed, how) in parts.items()
    ]


EXPERIMENT = Experiment(
    name="mnist",
    place="S17 Fig. 3 (table), MNIST",
    about="Test error on MNIST: 60,000 training images of which M are labeled.",
    cases=cases,
    run=run,
    measures=(MEASURES[0], NETWORK_ERROR, *MEASURES[1:]),
    budgets={
        "smoke": "seconds",
        "quick": "from 1 to 12 CPU minutes a cell and seed",
    },
    yardsticks=[
        Yardstick("goal", dict(zip(map(column, LABELS), (1.0, 1.2, 1.0, 0.8), strict=True)), "goal"),
        Yardstick(
            "S17",
            {
                "M = 100": (9.71, 0.91),
                "M = 600": (3.84, 0.86),
                "M = 1000": (2.88, 0.79),
                "M = 3000": (1.57, 0.93),
            },
        ),
        Yardstick(
            "M2 (Kingma et al. 2014)",
            {
                "M = 100": (11.97, 1.71),
                "M = 600": (4.94, 0.13),
                "M = 1000": (3.60, 0.56),
                "M = 3000": (3.92, 0.63),
            },
        ),
        Yardstick(
            "S16 (per-class labels, supervision rate)",
            {
                "M = 100": (12.2, 1.38),
                "M = 600": (5.28, 0.76),
                "M = 1000": (4.23, 0.68),
                "M = 3000": (3.94, 0.77),
            },
        ),
        Yardstick("M1+M2 (Kingma et al. 2014)", {"M = 100": 3.33}),
        Yardstick("SDGM (Maaløe et al. 2016)", {"M = 100": 1.32}),
        Yardstick("Ladder (Rasmus et al. 2015)", {"M = 100": 1.06}),
        Yardstick("ADGM (Maaløe et al. 2016)", {"M = 100": (0.96, 0.02)}),
    ],
    judged={
        BEST_ROW: "goal",
        JOINT_ROW: "goal",
        S17_ROW: "S17",
        LONGER_ROW: "S17",
        PLUG_IN_ROW: "S16 (per-class labels, supervision rate)",
    },
)
