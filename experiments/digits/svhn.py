"""svhn: test error from 1000 and 3000 labels (the table of S17 Fig. 3), on the subset of 20,000 + 10,000 digits."""

from __future__ import annotations

from typing import Any

from experiments.digits.digit_errors import MEASURES, alone, run, settings_for, table, without_decoder
from experiments.ledger.experiment import Case, Experiment, Tier, Yardstick

LABELS = (1000, 3000)

# S17's networks: convolutions of 32 and 64 channels and the reverse, fifteen dimensions of style.
S17: dict[str, Any] = {"style": 15, "x": {"encoder": {"name": "conv", "channels": [32, 64]}}}
TRAIN: dict[str, Any] = {
    "steps": 1200,
    "batch_size": 128,
    "labeled_share": 0.33,
    "objective": {"name": "semi_supervised", "alpha": 1000.0},
    "learning_rate": {"name": "cosine", "start": 1e-3},
}
# The predictions for an image and its augmented view must agree.
BEST: dict[str, Any] = {"style": 15, "augment": {"turn": 0.2, "scale": 0.15, "shear": 0.15, "shift": 0.12}}
BEST_TRAIN: dict[str, Any] = {
    **TRAIN,
    "steps": 2000,
    "batch_size": 150,
    "objective": {
        "name": "semi_supervised",
        "alpha": 2000.0,
        "regularizers": {"agreement": {"weight": 2000.0, "confidence": 0.9}},
    },
    "learning_rate": {"name": "cosine", "start": 2e-3},
}

BEST_ROW = "convolutions, two views that agree"
S17_ROW = "S17's networks, Concrete digit, Eq. 8"
PLUG_IN_ROW = "S17's networks, plug-in digit, Eq. 8"  # as in S16, whose networks are the same
NO_DECODER_ROW = f"{BEST_ROW}, without the generative model"


def cases(tier: Tier) -> list[Case]:
    """Return the best row, S17's networks, and both encoders on the labels alone."""
    rows = [
        (BEST_ROW, settings_for("svhn", 0, BEST, BEST_TRAIN, tier)),
        (S17_ROW, settings_for("svhn", 0, S17, TRAIN, tier, draws=2)),
        (PLUG_IN_ROW, settings_for("svhn", 0, {**S17, "gradient": "plug_in"}, TRAIN, tier)),
    ]
    found = table(rows, LABELS[:1] if tier == "smoke" else LABELS)
    found += [without_decoder(case, NO_DECODER_ROW) for case in found if case["row"] == BEST_ROW]
    for row, named in ((BEST_ROW, "the best encoder"), (S17_ROW, "S17's encoder")):
        found += [alone(case, f"labels alone: {named}") for case in found if case["row"] == row]
    return found


EXPERIMENT = Experiment(
    name="svhn",
    place="S17 Fig. 3 (table), SVHN",
    about=(
        "Test error on SVHN's digits, a subset: the first 20,000 training images, of which M are labeled, and the "
        "first 10,000 test images (S17 trained on 70,000)."
    ),
    cases=cases,
    run=run,
    measures=MEASURES,
    budgets={
        "smoke": "seconds",
        "quick": "from 1 to 8 CPU minutes a cell and seed",
    },
    yardsticks=[
        Yardstick("goal", {"M = 1000": 28.7}, "goal"),
        Yardstick("S17", {"M = 1000": (38.91, 1.06), "M = 3000": (29.07, 0.83)}),
        Yardstick("S17, early preprint", {"M = 1000": (28.71, 2.38)}),
        Yardstick("S16", {"M = 1000": (30.32, 2.74), "M = 3000": (23.98, 1.83)}),
        Yardstick("M1+M2 (Kingma et al. 2014)", {"M = 1000": (36.02, 0.10)}),
        Yardstick("SDGM (Maaløe et al. 2016)", {"M = 1000": 29.82}),
    ],
    judged={BEST_ROW: "goal", S17_ROW: "S17", PLUG_IN_ROW: "S16"},
)
