"""mnist-demo: the demonstration's recipe over several labeled sets (S17 Fig. 3, MNIST with M = 100)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.digits.digit_pictures import CAPTIONS, FACTOR, draw_analogies
from experiments.ledger.baselines import supervised
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier, Yardstick
from experiments.ledger.fit import error_of, recipe_of, short, train_quietly
from unknot.workflow.demo import MODEL, TRAIN
from unknot.workflow.recipe import Recipe

LABELS = 100
ROW, COLUMN = "Unknot, demo recipe", "M = 100"
ALONE, LINEAR = "the same encoder, trained on the labels alone", "logistic regression on the pixels"


def cases(tier: Tier) -> Sequence[Case]:
    """Return the demo, its encoder on the labels alone, and logistic regression on the same labels."""
    smoke = tier == "smoke"
    shared = {"column": COLUMN, "data": "digits" if smoke else "mnist", "labels": LABELS}
    train = short(TRAIN) if smoke else TRAIN
    return [
        {"row": ROW, **shared, "model": MODEL, "train": train},
        {"row": ALONE, **shared, "model": MODEL, "train": supervised(train, LABELS)},
        {"row": LINEAR, **shared},
    ]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Return the test error in per cent; every seed draws a new labeled set."""
    if "model" not in settings:
        labels = {"budget": {FACTOR: settings["labels"]}, "seed": seed}
        return {"error": _linear_error(Recipe({"name": settings["data"]}, labels))}
    trained = train_quietly(recipe_of(settings, seed, FACTOR))
    if pictures is not None and settings["train"]["objective"]["name"] != "supervised":
        draw_analogies(trained, settings, pictures)
    return {"error": error_of(trained, FACTOR)}


def _linear_error(recipe: Recipe) -> float:
    """Return the test error of a linear classifier of the pixels on the recipe's labeled items."""
    from sklearn.linear_model import LogisticRegression

    data = recipe.dataset()
    shown, test = recipe.training_data(data), recipe.test_data(data)
    assert test is not None
    shown = recipe.budget(shown).apply(shown)
    known = shown.factor(FACTOR).known.nonzero()[:, 0]
    labeled, held_out = shown.subset(known), test.batch(range(len(test)))
    x = labeled.batch(range(len(labeled))).x.flatten(1).numpy()
    linear = LogisticRegression(max_iter=1000).fit(x, labeled.factor(FACTOR).values.numpy())
    truth = test.factor(FACTOR).values.numpy()
    return 100 * float((linear.predict(held_out.x.flatten(1).numpy()) != truth).mean())


EXPERIMENT = Experiment(
    name="mnist-demo",
    place="S17 Fig. 3 (table), MNIST",
    about="Test error of the demo's recipe: 60,000 training images of which 100 are labeled.",
    cases=cases,
    run=run,
    measures=[Measure("error", "error", "%")],
    budgets={"smoke": "seconds", "quick": "about 6 CPU minutes a seed"},
    yardsticks=[
        Yardstick("S17", {COLUMN: (9.71, 0.91)}),
        Yardstick("M2 (Kingma et al. 2014)", {COLUMN: (11.97, 1.71)}),
    ],
    judged={ROW: "S17"},
    captions=CAPTIONS,
)
