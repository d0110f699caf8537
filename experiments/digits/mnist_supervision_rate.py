"""mnist-supervision-rate: error against the supervision rate (S17 Fig. 3 left, S16 Fig. 2b).

The rate ρ = γM / (N + γM) is the weight of the labeled items in the objective. Here it is the share of labeled items
in a batch: in expectation the mean over a batch is then (1 - ρ) times the mean over unlabeled items plus ρ times that
over labeled ones. A weight γ on labeled items gives the same up to the factor (N + γM) / (N + M), which does not change
Adam's steps (see :mod:`unknot.objectives.supervision`). All runs use the same number of labeled samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.ledger.baselines import LEAK_MEASURES, leak_of, supervised
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier, Yardstick
from experiments.ledger.fit import error_of, recipe_of, train_quietly
from unknot.objectives.supervision import supervision_rate
from unknot.plots.style import COLORS, INK, new_figure, quiet, save

# S17's model: one hidden layer of 512 in encoder and decoder, ten dimensions of style, and a Concrete digit.
MODEL = {
    "style": 10,
    "temperature": 0.66,
    "x": {"encoder": {"name": "mlp", "hidden": [512]}, "decoder": {"name": "mlp", "hidden": [512]}},
}
LABELED_DRAWS = 20000  # labeled samples of every run
ALONE_STEPS = 3400
WEIGHT = 10.0  # α = WEIGHT / ρ: the weight of the labels per image of a batch
TRAIN: dict[str, Any] = {"learning_rate": {"name": "cosine", "start": 1e-3}}
ITEMS = {"mnist": 60000, "digits": 1437}
LABELS = (100, 600, 1000, 3000)
RATES = (0.01, 0.05, 0.1, 0.5, 1.0)
SMALLEST, ALONE = "γ = 1", "labels alone"

# S17's curves, digitized: for each M the smallest rate (γ = 1 with 50,000 items) and the error at each rate
THEIRS: Mapping[int, tuple[float, Mapping[str, float]]] = {
    100: (0.002, {SMALLEST: 9.8, "ρ = 0.01": 8.3, "ρ = 0.05": 15.2, "ρ = 0.1": 15.2, "ρ = 0.5": 23.4, "ρ = 1": 36.8}),
    600: (0.012, {SMALLEST: 3.3, "ρ = 0.05": 3.7, "ρ = 0.1": 3.7, "ρ = 0.5": 4.0, "ρ = 1": 15.9}),
    1000: (0.02, {SMALLEST: 2.9, "ρ = 0.05": 3.0, "ρ = 0.1": 2.8, "ρ = 0.5": 3.4, "ρ = 1": 9.1}),
    3000: (0.06, {SMALLEST: 1.6, "ρ = 0.1": 1.7, "ρ = 0.5": 1.9, "ρ = 1": 3.6}),
}  # fmt: skip


def cases(tier: Tier) -> list[Case]:
    """Return the smallest rate and each larger one for every M, and the encoder on the labels alone."""
    data = "digits" if tier == "smoke" else "mnist"
    shorter = 0.005 if tier == "smoke" else 1
    found: list[Case] = []
    for labels in LABELS[:1] if tier == "smoke" else LABELS:
        smallest = supervision_rate(1.0, labels, ITEMS[data] - labels)
        rates = {SMALLEST: smallest, **{_column(rate): rate for rate in RATES if rate > smallest * 1.001}}
        shared = {"data": data, "labels": labels, "model": MODEL}
        for column, rate in rates.items():
            size = 200 if rate < 0.5 else 50  # smaller batches where most items are labeled give enough steps
            steps = round(shorter * LABELED_DRAWS / (rate * size))
            objective = {"name": "semi_supervised", "alpha": WEIGHT / rate}
            train = {
                **TRAIN,
                "steps": steps,
                "batch_size": size,
                "labeled_share": rate,
                "objective": objective,
            }
            found.append({"row": _row(labels), "column": column, **shared, "train": train})
        alone = supervised({**train, "batch_size": 200, "steps": round(shorter * ALONE_STEPS)}, labels)
        found.append({"row": _row(labels), "column": ALONE, **shared, "train": alone})
    return found


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Return the test error of the encoder of the digit, and the errors of probes on the style."""
    trained = train_quietly(recipe_of(settings, seed, "digit"))
    numbers = {"error": error_of(trained, "digit")}
    if settings["train"]["objective"]["name"] == "supervised":
        return numbers
    return numbers | leak_of(trained, "digit")


def plot(content: Mapping[str, Any], folder: Path) -> None:
    """Draw the error against ρ, a color for each M: ours solid, S17's dashed."""
    figure = new_figure(7.0, 4.2)
    axes = figure.add_subplot()
    for color, labels in zip(COLORS, LABELS, strict=False):
        ours = [
            (row["case"]["train"]["labeled_share"], row["numbers"]["error"])
            for row in content["summary"]
            if row["case"]["labels"] == labels and row["case"]["column"] != ALONE
        ]
        if ours:
            rates, errors = zip(*sorted(ours, key=lambda point: point[0]), strict=True)
            means, spread = [e["mean"] for e in errors], [e["sd"] or 0.0 for e in errors]
            style: dict[str, Any] = {
                "color": color,
                "marker": "o",
                "markersize": 3.5,
                "linewidth": 1.2,
                "capsize": 2,
            }
            axes.errorbar(rates, means, spread, label=f"M = {labels}", **style)
        smallest, theirs = THEIRS[labels]
        places = [smallest if column == SMALLEST else _rate(column) for column in theirs]
        dashed: dict[str, Any] = {
            "color": color,
            "marker": "o",
            "markersize": 3.5,
            "linewidth": 1.2,
            "markerfacecolor": "white",
        }
        axes.plot(places, list(theirs.values()), "--", label=f"M = {labels}, S17", **dashed)
    axes.set(xscale="log", yscale="log")
    low, high = axes.get_ylim()
    ticks = [tick for tick in (1, 2, 3, 5, 10, 20, 30, 50, 100) if low <= tick <= high]
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("supervision rate ρ", fontsize=9, color=INK)
    axes.set_ylabel("test error (%)", fontsize=9, color=INK)
    quiet(axes)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, folder / "supervision-rate.png")


def _row(labels: int) -> str:
    return f"M = {labels}"


def _column(rate: float) -> str:
    return f"ρ = {rate:g}"


def _rate(column: str) -> float:
    return float(column.removeprefix("ρ = "))


EXPERIMENT = Experiment(
    name="mnist-supervision-rate",
    place="S17 Fig. 3 left, S16 Fig. 2b",
    about="Test error on MNIST against the weight ρ of the labeled images in the objective, for M labels.",
    cases=cases,
    run=run,
    measures=(Measure("error", "error", "%"), *LEAK_MEASURES),
    budgets={
        "smoke": "seconds",
        "quick": "about half an hour of CPU a seed, half of it for the smallest rate at M = 100",
    },
    yardsticks=[Yardstick(f"S17, M = {m}", values, "D") for m, (_, values) in THEIRS.items()],
    judged={_row(m): f"S17, M = {m}" for m in LABELS},
    plot=plot,
    captions={
        "supervision-rate": "Test error against the supervision rate ρ. Solid: ours, with the spread over seeds; "
        "dashed: S17, digitized."
    },
)
