"""Tables of S17 Fig. 3 for any digits: train, then measure the encoder, the decoder's prediction and the style."""

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
from experiments.ledger.fit import error_of, recipe_of, short, train_quietly
from unknot.core.tracing import trace
from unknot.core.validation import validation
from unknot.data.dataset import Dataset
from unknot.models.by_name import Named
from unknot.models.graphical_model import GraphicalModel
from unknot.models.networks.mlp import VectorHead
from unknot.models.node_spec import NodeSpec
from unknot.objectives import importance_weighted
from unknot.workflow.trained_model import TrainedModel

FACTOR = "digit"
NETWORK_ERROR = Measure("network_error", "test error without the decoder's evidence", "%")
MEASURES = (
    Measure("error", "test error of the encoder", "%"),
    Measure("weighted_error", "test error of the importance-weighted prediction", "%"),
    *LEAK_MEASURES,
)
_CHUNK = 500


def column(labels: int) -> str:
    """Return the column of a table for a number of labels."""
    return f"M = {labels}"


def settings_for(
    data: str, labels: int, model: Mapping[str, Any], train: Mapping[str, Any], tier: Tier, draws: int = 0
) -> dict[str, Any]:
    """Return the settings of a case.

    ``draws``: samples per class of the importance-weighted prediction, 0 for none. The smoke tier makes a few steps
    on the embedded digits.
    """
    if tier == "smoke":
        data, labels, train = "digits", 50, short(train)
    return {"data": data, "labels": labels, "model": dict(model), "train": dict(train), "draws": draws}


def alone(case: Case, row: str) -> Case:
    """Return the baseline of a case: the same encoder on the labels alone, for half the steps, without agreement."""
    train = without_agreement(supervised(case["train"], case["labels"]))
    train["steps"] = max(train["steps"] // 2, 1)  # it converges earlier
    return {**case, "row": row, "train": train, "draws": 0}


def without_decoder(case: Case, row: str) -> Case:
    """Return the case with its encoder trained on labels and agreement alone, for as many steps."""
    objective = {**case["train"]["objective"], "name": "supervised"}
    return {**case, "row": row, "train": {**case["train"], "objective": objective}, "draws": 0}


def without_agreement(train: Mapping[str, Any]) -> dict[str, Any]:
    """Return training settings without the agreement of two views."""
    objective = dict(train["objective"])
    kept = {name: weight for name, weight in objective.get("regularizers", {}).items() if name != "agreement"}
    return {**train, "objective": {**objective, "regularizers": kept}}


def table(rows: Sequence[tuple[str, Mapping[str, Any]]], labels: Sequence[int]) -> list[Case]:
    """Return cases row by row from settings that are the same for all numbers of labels."""
    return [
        {"row": row, "column": column(number), **settings, "labels": number}
        for row, settings in rows
        for number in labels
    ]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Return errors in per cent; every seed draws labeled items, initial weights and batches."""
    trained = train_quietly(recipe_of(settings, seed, FACTOR))
    numbers = {"error": error_of(trained, FACTOR)}
    if settings["train"]["objective"]["name"] == "supervised":
        return numbers
    module: Any = trained.model.module
    if _has_evidence(module.spec[FACTOR]):
        numbers["network_error"] = error_of(replace(trained, model=without_evidence(trained.model)), FACTOR)
    if settings["draws"]:
        assert trained.test is not None
        error = importance_weighted_error(trained.model, trained.test, FACTOR, settings["draws"])
        numbers["weighted_error"] = 100 * error
    return numbers | leak_of(trained, FACTOR)


def without_evidence(model: TrainedModel) -> TrainedModel:
    """Return the same trained model with an encoder of the digit that does not use the decoder."""
    module: Any = model.module
    nodes = tuple(_plain_node(node) for node in module.spec.nodes)
    plain = GraphicalModel(replace(module.spec, nodes=nodes), module.shape).to(
        next(module.parameters()).device
    )
    plain.load_state_dict(module.state_dict())
    return replace(model, module=plain.eval())


def _plain_node(node: NodeSpec) -> NodeSpec:
    if not _has_evidence(node):
        return node
    assert node.encoder is not None
    kept = {key: value for key, value in node.encoder.options.items() if key in VectorHead.OPTIONS}
    return replace(node, encoder=Named("mlp", kept))


def _has_evidence(node: NodeSpec) -> bool:
    return node.encoder is not None and node.encoder.name == EVIDENCE_HEAD


def class_log_evidence(model: TrainedModel, x: Tensor, factor: str, samples: int) -> Tensor:
    """Return ``log (1/S) Σ_s p(x, k, z_s) / q(z_s | x, k)`` for every class k, ``(B, K)`` (S17 Eq. 9).

    Its softmax over k estimates the posterior p(k | x) of the generative model. The encoder q(k | x) is not used, only
    the proposals of the other nodes.
    """
    classes = model.node(factor).size or 0
    program, evidence = model.program, []
    for k in range(classes):
        q = trace(program.encode, x, {factor: torch.full((len(x),), k, device=x.device)}, samples)
        evidence.append(importance_weighted(q, trace(program.decode, x, q))["evidence"])
    return torch.stack(evidence, -1)


def importance_weighted_error(
    model: TrainedModel, data: Dataset, factor: str, samples: int, seed: int = 0
) -> float:
    """Return the share of items whose most likely class under the generative model is not their label."""
    wrong = total = 0
    with torch.random.fork_rng(devices=[]), torch.no_grad(), validation(False):
        torch.manual_seed(seed)
        for batch in data.batches(_CHUNK, shuffle=False):
            predicted = class_log_evidence(model, batch.x, factor, samples).argmax(-1)
            wrong += int((predicted != batch[factor]).sum())
            total += len(batch)
    return wrong / total
