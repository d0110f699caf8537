"""mnist-demo: the demonstration's recipe over several labelled sets (S17 Fig. 3, MNIST with M = 100)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unknot.papers.demo import MODEL, TRAIN
from unknot.papers.experiment import Case, Experiment, Measure, Numbers, Settings, Tier, Yardstick
from unknot.papers.quiet_training import error_of, train_quietly
from unknot.workflow.recipe import Recipe

STEPS = {"smoke": 3, "quick": TRAIN["steps"], "paper": TRAIN["steps"]}
ROW, COLUMN = "Unknot, demo recipe", "M = 100"


def cases(tier: Tier) -> Sequence[Case]:
    """One case: 100 labels."""
    data = "digits" if tier == "smoke" else "mnist"
    return [{"row": ROW, "column": COLUMN, "data": data, "labels": 100, "steps": STEPS[tier]}]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Test error in per cent of the digit recogniser, with a new labelled set for every seed."""
    train = {**TRAIN, "steps": settings["steps"], "seed": seed}
    recipe = Recipe({"name": settings["data"]}, {"digit": settings["labels"], "seed": seed}, MODEL, train)
    return {"error": error_of(train_quietly(recipe), "digit")}


EXPERIMENT = Experiment(
    name="mnist-demo",
    place="S17 Fig. 3 (table), MNIST",
    about="Test error of the demo's recipe: 60,000 training images of which 100 are labelled.",
    cases=cases,
    run=run,
    measures=[Measure("error", "error", "%")],
    budgets={"smoke": "seconds", "quick": "about 4 CPU minutes a seed", "paper": "the same"},
    yardsticks=[
        Yardstick("S17", {COLUMN: (9.71, 0.91)}),
        Yardstick("M2 (Kingma et al. 2014)", {COLUMN: (11.97, 1.71)}),
    ],
    judged={ROW: "S17"},
    notes=(
        "A convolutional recogniser that sees jittered images; the papers' recognisers are perceptrons. Settings are "
        "the same for all seeds; they were chosen by the error on the last 10,000 training images."
    ),
)
