"""mnist-restarts: choice of one of several restarts without labels, by UDR, ModelCentrality and others (E19 sec. 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.digits.class_discovery import ABLATION_STEPS, E19, rewarded
from experiments.ledger.codes import CLASS
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import fitted, short
from unknot.data import load
from unknot.data.dataset import Dataset
from unknot.metrics import class_accuracy, nmi
from unknot.workflow.codes import Codes, codes_of
from unknot.workflow.evaluation import log_evidence
from unknot.workflow.sweep.ranking import AGREEMENTS, agreements
from unknot.workflow.trained_model import TrainedModel

RESTARTS = 5
SETS = {"MNIST": "mnist", "Fashion-MNIST": "fashion-mnist"}
_BOUND_ITEMS = 500  # training images of the bound


def cases(tier: Tier) -> list[Case]:
    """Return E19's networks with a rewarded class, trained as in the ablation of mnist-hfvae."""
    settings = rewarded(E19, steps=ABLATION_STEPS * (10 if tier == "paper" else 1))
    restarts = RESTARTS
    if tier == "smoke":
        settings["train"], restarts = short(settings["train"], steps=4), 2
    return [
        {"row": row, "data": "digits" if tier == "smoke" else data, "restarts": restarts, **settings}
        for row, data in (list(SETS.items())[:1] if tier == "smoke" else SETS.items())
    ]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train all restarts, choose by training images alone, and score the choices by the classes of the test images."""
    data = load(settings["data"])
    train, test = replace(data.split("train"), factors={}), data.split("test")
    seeds = [settings["restarts"] * seed + k for k in range(settings["restarts"])]
    models = [fitted(train, one, settings["train"], settings["model"]) for one in seeds]
    accuracies = np.array([_accuracy(model, test) for model in models])
    found = {
        "mean": float(accuracies.mean()),
        "worst": float(accuracies.min()),
        "best": float(accuracies.max()),
    }
    for name, scores in _label_free_scores(models, train).items():
        found[name] = float(accuracies[int(np.argmax(scores))])
        found[f"{name}_order"] = _rank_correlation(scores, accuracies)
    return found


def _accuracy(model: TrainedModel, test: Dataset) -> float:
    """Return the accuracy in per cent after matching the classes one to one with the labels."""
    truth = next(iter(test.factors.values())).values.numpy()
    classes = model.predict(test.batch(torch.arange(len(test))).x).predictions[CLASS].argmax(-1).numpy()
    return 100 * class_accuracy(classes, truth).value


def _label_free_scores(models: Sequence[TrainedModel], train: Dataset) -> dict[str, list[float]]:
    """Return scores of each restart without labels: its bound on training images, agreement with the others."""
    x = train.batch(torch.arange(min(_BOUND_ITEMS, len(train)))).x
    codes = [codes_of(model, train) for model in models]
    agreed: dict[str, Any] = agreements(codes, [0] * len(models))
    bounds = [float(log_evidence(model, x, samples=10).mean()) for model in models]
    return {
        "bound": bounds,
        "classes": _class_agreement(codes),
        **{name: agreed[name] for name in AGREEMENTS},
    }


def _class_agreement(restarts: Sequence[Codes]) -> list[float]:
    """Return the mean NMI between the classes of each restart and those of the others."""
    classes = [one.codes[CLASS].values.argmax(-1) for one in restarts]
    return [
        float(np.mean([nmi(mine, other).value for k, other in enumerate(classes) if k != place]))
        for place, mine in enumerate(classes)
    ]


def _rank_correlation(scores: Sequence[float], accuracies: np.ndarray) -> float:
    """Return Spearman's correlation, 0 where one of the two is constant."""
    from scipy.stats import rankdata

    ranks = np.stack([rankdata(scores), rankdata(accuracies)])
    return float(np.corrcoef(ranks)[0, 1]) if (ranks.std(1) > 0).all() else 0.0


EXPERIMENT = Experiment(
    name="mnist-restarts",
    place="E19 sec. 5, its restarts",
    about="Five restarts, of which one is chosen without labels: class accuracy of the choice and of all restarts.",
    cases=cases,
    run=run,
    measures=(
        Measure("udr", "chosen by UDR", "%", "higher", 1),
        Measure("model_centrality", "chosen by ModelCentrality", "%", "higher", 1),
        Measure("classes", "chosen by the classes' agreement", "%", "higher", 1),
        Measure("bound", "chosen by the bound", "%", "higher", 1),
        Measure("mean", "any restart (mean)", "%", "higher", 1),
        Measure("worst", "worst restart", "%", "higher", 1),
        Measure("best", "best restart, by the labels", "%", "higher", 1),
        Measure("udr_order", "rank correlation with accuracy, UDR", "", "higher"),
        Measure("model_centrality_order", "ModelCentrality", "", "higher"),
        Measure("classes_order", "classes' agreement", "", "higher"),
        Measure("bound_order", "bound", "", "higher"),
    ),
    budgets={"smoke": "seconds", "quick": "5 CPU minutes a set of restarts", "paper": "ten times the steps"},
)
