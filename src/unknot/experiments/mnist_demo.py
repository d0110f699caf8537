"""mnist-demo: the demonstration's recipe over several labelled sets (S17 Fig. 3, MNIST with M = 100)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from unknot.experiments.demo import MODEL, TRAIN
from unknot.experiments.evaluation import recognise, scores
from unknot.experiments.experiment import Case, Experiment, Numbers, Published, Tier
from unknot.experiments.recipe import Recipe
from unknot.experiments.trained import train_recipe

STEPS = {"smoke": 3, "quick": TRAIN["steps"], "paper": TRAIN["steps"]}


def cases(tier: Tier) -> Sequence[Case]:
    """One case: 100 labels."""
    data = "digits" if tier == "smoke" else "mnist"
    return [{"row": "Unknot, demo recipe, M = 100", "data": data, "labels": 100, "steps": STEPS[tier]}]


def run(case: Case, seed: int) -> Numbers:
    """Test error in per cent of the digit recogniser, with a new labelled set for every seed."""
    train = {**TRAIN, "steps": case["steps"], "seed": seed}
    recipe = Recipe({"name": case["data"]}, {"digit": case["labels"], "seed": seed}, MODEL, train)
    with tempfile.TemporaryDirectory() as folder:
        trained, _ = train_recipe(recipe, Path(folder) / "run")
        assert trained.test is not None
        score = scores(trained.model, trained.test, recognise(trained.model, trained.test))[0]
    return {"error": 100 * score.value}


EXPERIMENT = Experiment(
    name="mnist-demo",
    place="S17 Fig. 3 (table), MNIST, M = 100",
    about="Test error of the demo's recipe: 60,000 training images of which 100 are labelled.",
    cases=cases,
    run=run,
    measure="error",
    unit="%",
    better="lower",
    budgets={"smoke": "seconds", "quick": "about 4 CPU minutes a seed", "paper": "the same"},
    published={
        "Unknot, demo recipe, M = 100": [
            Published("S17", 9.71, 0.91),
            Published("M2 (Kingma et al. 2014)", 11.97, 1.71),
        ]
    },
    notes=(
        "A convolutional recogniser that sees jittered images; the papers' recognisers are perceptrons. Settings are "
        "the same for all seeds; they were chosen by the error on the last 10,000 training images."
    ),
)
