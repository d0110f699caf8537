"""What the tables of S17 Fig. 3 share, whatever the digits: train, then measure the encoder and the style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from experiments.digits.evidence import EVIDENCE_HEAD
from experiments.ledger.baselines import LEAK_MEASURES, leak_of, supervised
from experiments.ledger.experiment import Case, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import error_of, train_quietly
from unknot.core.tracing import trace
from unknot.core.validation import validation
from unknot.data.dataset import Dataset
from unknot.models.by_name import Named
from unknot.models.graphical_model import GraphicalModel
from unknot.models.networks.mlp import VectorHead
from unknot.models.node_spec import NodeSpec
from unknot.objectives import importance_weighted
from unknot.workflow.recipe import Recipe
from unknot.workflow.trained_model import TrainedModel

# ---- Importance-weighted prediction: the class whose joint probability with the data is the largest ------

_CHUNK = 500


def class_log_evidence(model: TrainedModel, x: Tensor, factor: str, samples: int) -> Tensor:
    """``log (1/S) Σ_s p(x, k, z_s) / q(z_s | x, k)`` for every class k, ``(B, K)`` (the evidence of S17 Eq. 9).

    Its softmax over k estimates the generative model's own posterior p(k | x); the encoder q(k | x) has no part
    in it, only in the proposals of the other nodes.
    """
    classes = model.node(factor).size or 0
    program, found = model.program, []
    for k in range(classes):
        q = trace(program.encode, x, {factor: torch.full((len(x),), k, device=x.device)}, samples)
        found.append(importance_weighted(q, trace(program.decode, x, q))["evidence"])
    return torch.stack(found, -1)


def importance_weighted_error(
    model: TrainedModel, data: Dataset, factor: str, samples: int, seed: int = 0
) -> float:
    """Share of items whose likeliest class, by the generative model, is not their label."""
    wrong = total = 0
    with torch.random.fork_rng(devices=[]), torch.no_grad(), validation(False):
        torch.manual_seed(seed)
        for batch in data.batches(_CHUNK, shuffle=False):
            said = class_log_evidence(model, batch.x, factor, samples).argmax(-1)
            wrong += int((said != batch[factor]).sum())
            total += len(batch)
    return wrong / total


FACTOR = "digit"
NETWORK_ERROR = Measure(
    "network_error", "test error of its network without the generative model's evidence", "%"
)
MEASURES = (
    Measure("error", "test error of the encoder", "%"),
    Measure("weighted_error", "test error of the importance-weighted prediction", "%"),
    *LEAK_MEASURES,
)
_SMOKE = {"data": "digits", "labels": 50}
_SMOKE_TRAIN = {"steps": 3, "batch_size": 60}


def column(labels: int) -> str:
    """The column of a table for so many labels."""
    return f"M = {labels}"


def settings_for(
    data: str, labels: int, model: Mapping[str, Any], train: Mapping[str, Any], tier: Tier, draws: int = 0
) -> dict[str, Any]:
    """Settings of one case; ``draws``: samples for each class of the importance-weighted prediction, 0 for none.

    A smoke run is a few steps on the embedded digits; the paper tier trains five times as long.
    """
    shared: dict[str, Any] = {"data": data, "labels": labels, "model": dict(model), "train": dict(train)}
    if tier == "smoke":
        shared |= _SMOKE
        shared["train"] |= _SMOKE_TRAIN
    elif tier == "paper":
        shared["train"]["steps"] *= 5
    return {**shared, "draws": draws}


def alone(case: Case, row: str) -> Case:
    """The honest row to a case: the same encoder on the labels alone, for half the steps: it is done long before."""
    train = without_agreement(supervised(case["train"], case["labels"]))
    train["steps"] = max(train["steps"] // 2, 1)
    return {**case, "row": row, "train": train, "draws": 0}


def without_agreement(train: Mapping[str, Any]) -> dict[str, Any]:
    """Training settings without the agreement of two views."""
    objective = dict(train["objective"])
    kept = {name: weight for name, weight in objective.get("regularizers", {}).items() if name != "agreement"}
    return {**train, "objective": {**objective, "regularizers": kept}}


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Errors in per cent, with a new labeled set, new weights and new draws for every seed."""
    train = {**settings["train"], "seed": seed}
    labels = {"budget": {FACTOR: settings["labels"]}, "seed": seed}
    trained = train_quietly(Recipe({"name": settings["data"]}, labels, settings["model"], train))
    numbers = {"error": error_of(trained, FACTOR)}
    if train["objective"]["name"] == "supervised":
        return numbers
    if _weighs_evidence(trained.model):
        numbers["network_error"] = error_of(replace(trained, model=without_evidence(trained.model)), FACTOR)
    if settings["draws"]:
        assert trained.test is not None
        error = importance_weighted_error(trained.model, trained.test, FACTOR, settings["draws"])
        numbers["weighted_error"] = 100 * error
    return numbers | leak_of(trained, FACTOR)


def without_evidence(model: TrainedModel) -> TrainedModel:
    """The same trained model, with a digit that is read by the recognition network alone."""
    module: Any = model.module
    nodes = tuple(_plain_node(node) for node in module.spec.nodes)
    plain = GraphicalModel(replace(module.spec, nodes=nodes), module.shape).to(
        next(module.parameters()).device
    )
    plain.load_state_dict(module.state_dict())
    return replace(model, module=plain.eval())


def _plain_node(node: NodeSpec) -> NodeSpec:
    """The node with a network alone in the place of a network and evidence."""
    if not _has_evidence(node):
        return node
    assert node.encoder is not None
    kept = {key: value for key, value in node.encoder.options.items() if key in VectorHead.OPTIONS}
    return replace(node, encoder=Named("mlp", kept))


def _has_evidence(node: NodeSpec) -> bool:
    return node.encoder is not None and node.encoder.name == EVIDENCE_HEAD


def _weighs_evidence(model: TrainedModel) -> bool:
    module: Any = model.module
    return _has_evidence(module.spec[FACTOR])


def table(rows: Sequence[tuple[str, Mapping[str, Any]]], labels: Sequence[int]) -> list[Case]:
    """Cases row by row from settings that are the same for all numbers of labels."""
    return [
        {"row": row, "column": column(number), **settings, "labels": number}
        for row, settings in rows
        for number in labels
    ]
