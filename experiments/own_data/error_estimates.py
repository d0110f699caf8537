"""error-estimates: is the error that is reported the error on new items, and do sets and intervals cover the truth?

For each draw of labels, five of a seed, a default model is fitted, for few steps and on tables with one member, since
it is the estimate that is measured. Its out-of-fold error with its 95 % interval is compared with the true error: that
on all items whose labels were hidden.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier, Yardstick
from experiments.own_data.items import Items, take
from experiments.own_data.read_images import read_images
from experiments.own_data.read_series import read_series
from experiments.own_data.read_tables import read_table
from experiments.own_data.read_texts import read_texts
from unknot import StructuredVAE

LABELS, MOST = 60, 600  # labels of a draw, and items of a set
DRAWS = 5  # of a seed
LEVEL, ALARMS = 0.9, 0.05
_ONE_MEMBER = {"kind": "ensemble", "folds": 3, "settings": [{"rank": False, "alpha": 3.0}]}
_READERS = {"tables": read_table, "texts": read_texts, "images": read_images, "series": read_series}
_SETS = (
    ("tables", "sklearn/breast_cancer"),
    ("tables", "MASS/fgl"),
    ("tables", "Stat2Data/Hawks"),
    ("tables", "ISLR/OJ"),
    ("tables", "carData/Chile"),
    ("tables", "AER/HMDA"),
    ("tables", "vcdExtra/Titanicp"),
    ("tables", "sklearn/diabetes"),
    ("tables", "MASS/Boston"),
    ("tables", "modeldata/concrete"),
    ("images", "digits 8 x 8"),
    ("texts", "newsgroups: politics"),
    ("series", "CBF"),
)


def cases(tier: Tier) -> list[Case]:
    """Return the data sets, all of ``tune``."""
    if tier == "smoke":
        return [
            {"row": name, "kind": "tables", "item": name, "draws": 2, "steps": 2}
            for name in ("sklearn/wine", "sklearn/diabetes")
        ]
    return [
        {"row": item, "kind": kind, "item": item, "draws": DRAWS, "steps": 60 if kind == "tables" else 150}
        for kind, item in _SETS
    ]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Return shares over the draws of labels of one data set."""
    items = _READERS[settings["kind"]](settings["item"]).at_most(MOST)
    more = {"steps": settings["steps"]} | ({"model": _ONE_MEMBER} if settings["kind"] == "tables" else {})
    draws = [one_draw(items, more, [seed, draw]) for draw in range(settings["draws"])]
    return {key: float(np.mean([one[key] for one in draws])) for key in draws[0]}


def one_draw(items: Items, more: Mapping[str, Any], seed: list[int]) -> Numbers:
    """Return the estimate and the truth for one draw of labels: half of the other items are trained on without."""
    order = np.random.default_rng(seed).permutation(len(items))
    trained, new = np.split(order, [LABELS + (len(items) - LABELS) // 2])
    shown = np.full(len(items), -1 if items.classes else np.nan)
    shown[trained[:LABELS]] = items.y[trained[:LABELS]]
    labels = shown[trained].astype(np.int64 if items.classes else np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is said of single columns
        vae = StructuredVAE(**more, seed=seed[-1], verbose=False, verdict=False).fit(
            take(items.x, trained), label=labels
        )
        found, truth = vae.trained_.out_of_fold["label"], items.y[new]
        x = take(items.x, new)
        alarms = {}
        if vae.trained_.novelty is not None:
            alarms["alarms"] = 100 * float((vae.novelty(x) <= ALARMS).mean())
        if items.classes:
            numbers = _classes(vae, found.error, found.interval(), x, truth)
        else:
            numbers = _numbers(vae, x, truth)
    return {**numbers, **alarms}


def _classes(
    vae: StructuredVAE, estimate: float, interval: tuple[float, float], x: Any, truth: np.ndarray
) -> Numbers:
    wrong = vae.predict(x) != truth
    mask = vae.predict_set(x, level=LEVEL, as_mask=True)
    columns = {value: k for k, value in enumerate(vae.classes_["label"])}
    covered = [value in columns and mask[i, columns[value]] for i, value in enumerate(truth.tolist())]
    low, high = interval
    return {
        "within": 100 * float(low <= wrong.mean() <= high),
        "estimate": 100 * estimate,
        "truth": 100 * float(wrong.mean()),
        "covered": 100 * float(np.mean(covered)),
    }


def _numbers(vae: StructuredVAE, x: Any, truth: np.ndarray) -> Numbers:
    from unknot.workflow.evaluation import MEASURES

    measure, found = MEASURES["root mean square error"], vae.trained_.out_of_fold["label"]
    losses = measure.losses(found.labels, found.predictions.reshape(len(found), -1))
    low, high = measure.interval(losses, found.folds) or (0.0, np.inf)
    error = float(np.sqrt(np.mean((vae.predict(x) - truth) ** 2)))
    ends = vae.predict_interval(x, level=LEVEL)
    return {
        "within": 100 * float(low <= error <= high),
        "estimate": 100 * measure.total(losses) / float(truth.std()),
        "truth": 100 * error / float(truth.std()),
        "covered": 100 * float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()),
    }


EXPERIMENT = Experiment(
    name="error-estimates",
    place="this library",
    about="The reported error beside the error on new items, and how often sets and intervals hold the truth, over "
    "draws of 60 labels, five of a seed; default models trained for 150 steps, of tables with one member for 60.",
    cases=cases,
    run=run,
    measures=(
        Measure(
            "within", "true error within the 95 % interval of the reported one", "% of draws", "higher", 0
        ),
        Measure("estimate", "reported error, of numbers in standard deviations", "%"),
        Measure("truth", "error on new items", "%"),
        Measure("covered", "coverage of 90 % sets and intervals", "%", "higher", 1),
        Measure("alarms", "new items with a novelty of at most .05", "%", decimals=1),
    ),
    budgets={
        "smoke": "seconds",
        "quick": "about 3 CPU minutes a seed",
        "paper": "50 draws: 10 seeds, 30 CPU minutes",
    },
    yardsticks=(Yardstick("goal", {"": 90.0}, "goal"),),
)
