"""mnist-tradeoff: information against correlation as its weight rises, and the gap of the class (E19 Fig. 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from experiments.digits.class_discovery import E19, plain, rewarded
from experiments.ledger.codes import fixed_traces, metric_codes
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import fitted, short
from unknot.data import load
from unknot.metrics import class_gap
from unknot.objectives import information
from unknot.plots.style import COLORS, INK, new_figure, quiet, save

STEPS = 800
ITEMS = 5000  # test images in the estimates
GAMMA = 3.0
EQUAL = (1.0, 2.0, 4.0, 8.0)
BETAS = (1.0, 4.0, 12.0)
EQUAL_ROW, GAP_ROW = "β = γ, as printed", f"γ = {GAMMA:g}, class rewarded"


def cases(tier: Tier) -> list[Case]:
    """Return β = γ as in E19's left figure, and a fixed γ with a rising β as in its right one."""
    steps = {"smoke": 4, "quick": STEPS}[tier]
    runs: list[tuple[str, float, dict[str, Any]]] = [
        *((EQUAL_ROW, weight, plain(name="hfvae", beta=weight, gamma=weight)) for weight in EQUAL),
        *((GAP_ROW, weight, rewarded(E19, beta=weight, gamma=GAMMA)) for weight in BETAS),
    ]
    found: list[Case] = []
    for row, weight, settings in runs[:1] + runs[-1:] if tier == "smoke" else runs:
        train = {**settings["train"], "steps": steps}
        train = short(train, steps) if tier == "smoke" else train
        data = "digits" if tier == "smoke" else "mnist"
        found.append(
            {
                "row": row,
                "column": f"β = {weight:g}",
                "data": data,
                "model": settings["model"],
                "train": train,
            }
        )
    return found


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train without labels, and measure information, correlation and the gap on test images."""
    data = load(settings["data"])
    train, test = data.split("train"), data.split("test")
    model = fitted(replace(train, factors={}), seed, settings["train"], settings["model"])
    shown = test.batch(torch.arange(min(ITEMS, len(test))))
    found = information(fixed_traces(model, shown.x)[0], len(train))
    gap = class_gap(metric_codes(model, shown.x), {"digit": shown["digit"].numpy()})
    return {
        "information": float(found.joint),
        "correlation": float(found.total_correlation),
        "gap": gap.value,
    }


def plot(content: Mapping[str, Any], folder: Path) -> None:
    """Draw information against correlation, with β, and the gap against β."""
    figure = new_figure(7.2, 3.0)
    left, right = figure.subplots(1, 2)
    for color, row in zip(COLORS, (EQUAL_ROW, GAP_ROW), strict=False):
        found = [one for one in content["summary"] if one["case"]["row"] == row]
        if not found:
            continue
        means = {
            key: [one["numbers"][key]["mean"] for one in found]
            for key in ("information", "correlation", "gap")
        }
        betas = [float(one["case"]["column"].removeprefix("β = ")) for one in found]
        left.plot(means["information"], means["correlation"], "o-", color=color, markersize=4, label=row)
        for beta, x, y in zip(betas, means["information"], means["correlation"], strict=True):
            left.annotate(f"{beta:g}", (x, y), (4, 3), textcoords="offset points", fontsize=7, color=INK)
        right.plot(betas, means["gap"], "o-", color=color, markersize=4, label=row)
    left.set_xlabel("I(x; {style, class}) in nats", fontsize=8, color=INK)
    left.set_ylabel("total correlation in nats", fontsize=8, color=INK)
    right.set_xlabel("β", fontsize=8, color=INK)
    right.set_ylabel("I(y; class) - max I(y; style_d)", fontsize=8, color=INK)
    right.axhline(0, color=INK, linewidth=0.6, linestyle=":")
    for axes in (left, right):
        quiet(axes)
    right.legend(fontsize=7, frameon=False)
    save(figure, folder / "tradeoff.png")


EXPERIMENT = Experiment(
    name="mnist-tradeoff",
    place="E19 Fig. 6",
    about="MNIST: information against a penalty on correlation, and whether only the class encodes the digit.",
    cases=cases,
    run=run,
    measures=(
        Measure("gap", "I(y; class) - max I(y; style_d)", "nats", "higher"),
        Measure("information", "I(x; {style, class})", "nats", "higher"),
        Measure("correlation", "total correlation", "nats"),
    ),
    budgets={"smoke": "seconds", "quick": "half a CPU minute a cell and seed"},
    plot=plot,
    captions={
        "tradeoff": "Left: information against total correlation, with β at each point; right: the mutual information "
        "of digit and class minus that of digit and the best dimension of the style, against β."
    },
)
