"""sequences: regimes of synthetic sequences from few labeled steps, by switching models whose regimes are summed.

300 training and 100 test sequences of 60 steps. 0, 1 or 5 % of the training steps have labels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.sequences.regime_models import (
    GaussianChain,
    Sequences,
    StepClassifier,
    SwitchingModel,
    drawn_sequences,
    fit_gru,
    fit_switching,
    named_by_labels,
    some_labels,
)
from unknot.plots.style import COLORS, INK, new_figure, quiet, save

TRAIN, TEST = 300, 100
SHARES = {"0 %": 0.0, "1 %": 0.01, "5 %": 0.05}
STATE_SPACE = "switching state-space model (ours)"
AUTOREGRESSION = "switching autoregression (ours)"
HMM_PAIRS = "HMM by EM on (x_t, x_{t-1}), hmmlearn"
HMM = "HMM by EM on x_t, hmmlearn"
GRU = "GRU on the labels alone"
ROWS: dict[str, dict[str, Any]] = {
    STATE_SPACE: {"method": "switching", "states": True},
    AUTOREGRESSION: {"method": "switching", "states": False},
    HMM_PAIRS: {"method": "hmm", "pairs": True},
    HMM: {"method": "hmm", "pairs": False},
    GRU: {"method": "gru"},
}
BUDGETS = {  # optimizer steps, and starts of EM
    "smoke": {"switching": 2, "hmm": 1, "gru": 2, "train": 20, "test": 5},
    "quick": {"switching": 600, "hmm": 5, "gru": 300, "train": TRAIN, "test": TEST},
}


def cases(tier: Tier) -> list[Case]:
    """Every method at every share of labels that it can use, and the GRU with all labels; hmmlearn is not in smoke."""
    sizes = BUDGETS["smoke" if tier == "smoke" else "quick"]
    made: list[Case] = []
    for row, settings in ROWS.items():
        if tier == "smoke" and settings["method"] == "hmm":
            continue
        for column, share in {**SHARES, "all": 1.0}.items():
            gru = settings["method"] == "gru"
            if (gru and share == 0.0) or (share == 1.0 and not gru):
                continue
            budget = sizes[settings["method"]]
            made.append(
                {
                    "row": row,
                    "column": f"{column} of the steps labeled",
                    **settings,
                    "share": share,
                    "budget": budget,
                    "train": sizes["train"],
                    "test": sizes["test"],
                }
            )
    return made


def data(settings: Settings, seed: int) -> tuple[Sequences, Tensor, Sequences]:
    """Training sequences, their labels, and test sequences."""
    train = drawn_sequences(settings["train"], 2 * seed)
    return (
        train,
        some_labels(train.regime, settings["share"], seed),
        drawn_sequences(settings["test"], 2 * seed + 1),
    )


def fitted(settings: Settings, seed: int) -> tuple[Tensor, Sequences]:
    """The regimes that a method predicts for the test sequences, and these sequences."""
    train, labels, test = data(settings, seed)
    model: SwitchingModel | StepClassifier | GaussianChain
    if settings["method"] == "switching":
        model = fit_switching(settings["states"], train.x, labels, settings["budget"], seed)
    elif settings["method"] == "gru":
        model = fit_gru(train.x, labels, settings["budget"], seed)
    else:
        model = GaussianChain(settings["pairs"], settings["budget"], seed).fit(train.x)
        if settings["share"] > 0:  # EM has no use for labels; they name its states
            return named_by_labels(model.predict(train.x), labels)[model.predict(test.x)], test
    return model.predict(test.x), test


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Regime accuracy per step on the test sequences; without labels, for the best matching of states to regimes."""
    predicted, test = fitted(settings, seed)
    if settings["share"] == 0:
        predicted = named_by_labels(predicted, test.regime)[predicted]
    if pictures is not None and settings["method"] == "switching" and settings["share"] == SHARES["5 %"]:
        draw_regimes(test, predicted, pictures / "regimes.png")
    return {"accuracy": 100 * float((predicted == test.regime).double().mean())}


def draw_regimes(test: Sequences, predicted: Tensor, path: Path) -> None:
    """Test sequences in the colors of their true regimes, with the predicted ones below."""
    count = min(4, len(test.x))
    figure = new_figure(9, 1.6 * count)
    axes = figure.subplots(count, 1, squeeze=False)[:, 0]
    steps = torch.arange(test.x.shape[1])
    for row, one in enumerate(axes):
        low = float(test.x[row].min()) - 0.5
        one.plot(steps, test.x[row], color=INK, linewidth=0.7)
        for place, regimes in ((low - 0.5, test.regime[row]), (low - 1.1, predicted[row])):
            one.scatter(
                steps,
                torch.full((len(steps),), place),
                c=[COLORS[k] for k in regimes.tolist()],
                s=14,
                marker="s",
            )
        quiet(one)
    axes[-1].set_xlabel("step", fontsize=8, color=INK)
    save(figure, path)


EXPERIMENT = Experiment(
    name="sequences",
    place="Synthetic sequences",
    about="Regimes of noisy dynamics, found without labels or from few labeled steps.",
    cases=cases,
    run=run,
    measures=(Measure("accuracy", "regime accuracy per step", "%", "higher", 1),),
    budgets={"smoke": "seconds", "quick": "about 2 CPU minutes per case and seed", "paper": "the same"},
    captions={
        "regimes": "Test sequences: the two observed coordinates, and below them the true regimes (upper line) and the "
        "predicted ones (lower line), from 5 % labeled steps."
    },
)
