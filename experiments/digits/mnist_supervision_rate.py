"""mnist-supervision-rate: error against the supervision rate (S17 Fig. 3 left, S16 Fig. 2b).

The rate ρ = γM / (N + γM) is the labeled items' share of the objective. It is set here by the share of labeled
items in a batch: with a share ρ the mean over a batch is, in expectation, (1 - ρ) times the mean over unlabeled
items plus ρ times that over labeled ones. A weight γ on labeled items that come as seldom as they are gives the
same, times (N + γM) / (N + M), a factor to which Adam's step is blind (see :mod:`unknot.objectives.supervision`).
Every training is as long as every other in labeled draws, so that a small rate is not also a short training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.ledger.baselines import LEAK_MEASURES, leak_of, supervised
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier, Yardstick
from experiments.ledger.fit import error_of, train_quietly
from unknot.objectives.supervision import supervision_rate
from unknot.plots.style import COLORS, INK, new_figure, quiet, save
from unknot.workflow.recipe import Recipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# ---- Curves of ours beside theirs: solid and dashed lines of one color -----------------------------------


@dataclass(frozen=True)
class Curve:
    """Points of one line; ``spread`` draws bars, curves of one ``family`` share a color, theirs are dashed."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    family: str
    theirs: bool = False
    spread: Sequence[float] | None = None


def comparison(curves: Sequence[Curve], x_label: str, y_label: str, title: str = "") -> Figure:
    """All curves in one frame, with logarithmic axes both ways, and their names beside it."""
    figure = new_figure(7.0, 4.2)
    axes = figure.add_subplot()
    families = list(dict.fromkeys(curve.family for curve in curves))
    for curve in curves:
        axes.errorbar(
            curve.x,
            curve.y,
            yerr=curve.spread,
            label=curve.name,
            color=COLORS[families.index(curve.family) % len(COLORS)],
            linestyle="--" if curve.theirs else "-",
            marker="o",
            markersize=3.5,
            markerfacecolor="white" if curve.theirs else None,
            linewidth=1.2,
            capsize=2,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = [1, 2, 3, 5, 10, 20, 30, 50, 100]
    shown = [tick for tick in ticks if axes.get_ylim()[0] <= tick <= axes.get_ylim()[1]]
    axes.set_yticks(shown, [str(tick) for tick in shown])
    axes.minorticks_off()
    axes.set_xlabel(x_label, fontsize=9, color=INK)
    axes.set_ylabel(y_label, fontsize=9, color=INK)
    quiet(axes)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    if title:
        axes.set_title(title, fontsize=10, color=INK, loc="left")
    return figure


# S17's model: one hidden layer of 512 both ways, ten dimensions of style, and a Concrete digit.
MODEL = {
    "style": 10,
    "temperature": 0.66,
    "x": {"encoder": {"name": "mlp", "hidden": [512]}, "decoder": {"name": "mlp", "hidden": [512]}},
}
LABELED_DRAWS = 20000  # of every training, whatever its rate
ALONE_STEPS = 3400
WEIGHT = 10.0  # of the labels for each image of a batch: α = WEIGHT / ρ
TRAIN: dict[str, Any] = {"learning_rate": {"name": "cosine", "start": 1e-3}}
ITEMS = {"mnist": 60000, "digits": 1437}
LABELS = (100, 600, 1000, 3000)
RATES = (0.01, 0.05, 0.1, 0.5, 1.0)
SMALLEST, ALONE = "γ = 1", "labels alone"

# S17's curves, digitized: per number of labels its smallest rate (γ = 1 beside 50,000 items) and the error at each
THEIRS: Mapping[int, tuple[float, Mapping[str, float]]] = {
    100: (0.002, {SMALLEST: 9.8, "ρ = 0.01": 8.3, "ρ = 0.05": 15.2, "ρ = 0.1": 15.2, "ρ = 0.5": 23.4, "ρ = 1": 36.8}),
    600: (0.012, {SMALLEST: 3.3, "ρ = 0.05": 3.7, "ρ = 0.1": 3.7, "ρ = 0.5": 4.0, "ρ = 1": 15.9}),
    1000: (0.02, {SMALLEST: 2.9, "ρ = 0.05": 3.0, "ρ = 0.1": 2.8, "ρ = 0.5": 3.4, "ρ = 1": 9.1}),
    3000: (0.06, {SMALLEST: 1.6, "ρ = 0.1": 1.7, "ρ = 0.5": 1.9, "ρ = 1": 3.6}),
}  # fmt: skip


def cases(tier: Tier) -> list[Case]:
    """For every M the smallest rate and each larger one, and the encoder on the labels alone."""
    data = "digits" if tier == "smoke" else "mnist"
    longer = {"smoke": 0.005, "quick": 1, "paper": 10}[tier]
    found: list[Case] = []
    for labels in LABELS[:1] if tier == "smoke" else LABELS:
        smallest = supervision_rate(1.0, labels, ITEMS[data] - labels)
        rates = {SMALLEST: smallest, **{_column(rate): rate for rate in RATES if rate > smallest * 1.001}}
        shared = {"data": data, "labels": labels, "model": MODEL}
        for column, rate in rates.items():
            size = 200 if rate < 0.5 else 50  # small where labels fill it, so that there are enough steps
            steps = round(longer * LABELED_DRAWS / (rate * size))
            objective = {"name": "semi_supervised", "alpha": WEIGHT / rate}
            train = {
                **TRAIN,
                "steps": steps,
                "batch_size": size,
                "labeled_share": rate,
                "objective": objective,
            }
            found.append({"row": _row(labels), "column": column, **shared, "train": train})
        alone = supervised({**train, "batch_size": 200, "steps": round(longer * ALONE_STEPS)}, labels)
        found.append({"row": _row(labels), "column": ALONE, **shared, "train": alone})
    return found


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Test error of the digit encoder, and what the style tells of the digit."""
    train = {**settings["train"], "seed": seed}
    labels = {"budget": {"digit": settings["labels"]}, "seed": seed}
    trained = train_quietly(Recipe({"name": settings["data"]}, labels, settings["model"], train))
    numbers = {"error": error_of(trained, "digit")}
    return numbers if train["objective"]["name"] == "supervised" else numbers | leak_of(trained, "digit")


def plot(content: Mapping[str, Any], folder: Path) -> None:
    """Error against ρ, a color for each M: ours solid, theirs dashed."""
    curves = []
    for labels in LABELS:
        ours = [
            (row["case"]["train"]["labeled_share"], row["numbers"]["error"])
            for row in content["summary"]
            if row["case"]["labels"] == labels and row["case"]["column"] != ALONE
        ]
        if ours:
            rates, errors = zip(*sorted(ours, key=lambda point: point[0]), strict=True)
            means, spreads = [e["mean"] for e in errors], [e["sd"] or 0.0 for e in errors]
            curves.append(Curve(f"M = {labels}", rates, means, str(labels), spread=spreads))
        smallest, theirs = THEIRS[labels]
        places = [smallest if column == SMALLEST else _rate(column) for column in theirs]
        curves.append(Curve(f"M = {labels}, S17", places, list(theirs.values()), str(labels), theirs=True))
    save(comparison(curves, "supervision rate ρ", "test error (%)"), folder / "supervision-rate.png")


def _row(labels: int) -> str:
    return f"M = {labels}"


def _column(rate: float) -> str:
    return f"ρ = {rate:g}"


def _rate(column: str) -> float:
    return float(column.removeprefix("ρ = "))


EXPERIMENT = Experiment(
    name="mnist-supervision-rate",
    place="S17 Fig. 3 left, S16 Fig. 2b",
    about="Test error on MNIST against the share ρ that labeled images have in the objective, for M labels.",
    cases=cases,
    run=run,
    measures=(Measure("error", "error", "%"), *LEAK_MEASURES),
    budgets={
        "smoke": "seconds",
        "quick": "about half an hour of CPU a seed, half of it for the smallest rate at M = 100",
        "paper": "ten times the steps",
    },
    yardsticks=[Yardstick(f"S17, M = {m}", values, "D") for m, (_, values) in THEIRS.items()],
    judged={_row(m): f"S17, M = {m}" for m in LABELS},
    plot=plot,
    captions={
        "supervision-rate": "Test error against the supervision rate ρ. Solid: ours, with the spread over seeds; "
        "dashed: S17, digitized."
    },
)
