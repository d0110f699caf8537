"""weak-labels: what coarse labels, and votes of raters with learned confusion matrices, are worth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.weak_labels.learners import LEARNERS
from experiments.weak_labels.pools import GROUPS, read_pool
from unknot.plots.style import COLORS, INK, new_figure, quiet, save

FINE = (5, 15)
BY_FINE = {
    "fine": "fine labels alone",
    "coarse": "fine labels, and the group of the rest",
    "linear": "linear, fine labels alone",
    "product": "linear, fine times coarse predictions",
}
OF_ALL = {
    "truth": "the true class of every item",
    "raters": "three raters, learned confusion",
    "majority": "three raters, majority",
    "noisy": "one rater with 30 % flips, as it is",
    "noisy_matrix": "one rater with 30 % flips, learned confusion",
}


def cases(tier: Tier) -> list[Case]:
    """Return every learner on every set; those of fine labels with several numbers of labels per class."""
    smoke = tier == "smoke"
    sets, steps = (
        (["made"], {"steps": 3})
        if smoke
        else ([n for n in GROUPS if n != "made"], {"steps": 250} if tier == "quick" else {})
    )
    found: list[Case] = []
    for name in sets:
        for method, title in BY_FINE.items():
            for fine in FINE:
                row = f"{title}, {fine} per class"
                found.append(
                    {"row": row, "column": name, "data": name, "method": method, "fine": fine, **steps}
                )
        for method, title in OF_ALL.items():
            found.append({"row": title, "column": name, "data": name, "method": method, **steps})
    return found


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Return the test error of one learner, and how far its confusion matrices are from the true ones."""
    # the weight of coarse labels in an ensemble was chosen on three sets as the seed 0 divides them
    pool = read_pool(settings["data"], 100 + seed)
    return LEARNERS[settings["method"]](pool, settings, seed)


def plot(content: Mapping[str, Any], folder: Path) -> None:
    """Draw one picture per set: the error against the number of fine labels, and the learners of votes as lines."""
    for name in dict.fromkeys(row["case"]["column"] for row in content["summary"]):
        rows = [row for row in content["summary"] if row["case"]["column"] == name]
        figure = new_figure(6.4, 3.6)
        axes = figure.add_subplot()
        for color, (method, title) in zip(COLORS, BY_FINE.items(), strict=False):
            points = sorted(
                (row["case"]["fine"], row["numbers"]["error"])
                for row in rows
                if row["case"]["method"] == method
            )
            if points:
                places, errors = zip(*points, strict=True)
                spread = [error["sd"] or 0.0 for error in errors]
                means = [error["mean"] for error in errors]
                axes.errorbar(
                    places, means, spread, color=color, label=title, marker="o", capsize=2, linewidth=1.2
                )
        for style, (method, title) in zip(("-", "--", ":", "-.", (0, (1, 3))), OF_ALL.items(), strict=True):
            for row in rows:
                if row["case"]["method"] == method:
                    level = row["numbers"]["error"]["mean"]
                    axes.axhline(level, color=INK, linestyle=style, linewidth=0.8, label=title)
        axes.set_xscale("log")
        axes.set_xticks(FINE, [str(fine) for fine in FINE])
        axes.minorticks_off()
        axes.set_title(name, fontsize=9, color=INK)
        axes.set_xlabel("fine labels per class", fontsize=9, color=INK)
        axes.set_ylabel("test error (%)", fontsize=9, color=INK)
        quiet(axes)
        axes.legend(fontsize=6.5, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        save(figure, folder / f"{_slug(name)}.png")


def _slug(name: str) -> str:
    return name.replace(" ", "-").lower()


EXPERIMENT = Experiment(
    name="weak-labels",
    place="this library; the papers have certain labels only",
    about="Coarse labels for items without a fine one, and votes of raters whose errors are learned, on six sets.",
    cases=cases,
    run=run,
    measures=(
        Measure("error", "test error", "%", decimals=1),
        Measure("confusion", "mean gap of the confusion matrices", decimals=3),
    ),
    budgets={
        "smoke": "seconds",
        "quick": "about 4 CPU minutes a seed, with half the steps of the default models",
        "paper": "about 8 CPU minutes a seed",
    },
    plot=plot,
    captions={
        _slug(name): f"{name}: error against fine labels per class; lines: a label or votes for every item."
        for name in GROUPS
    },
)
