"""Cross-fitting: predictions for labels by models from which they were hidden, and the predictors stacked on them."""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from unknot.data.batch import any_known
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.models.families import family_of
from unknot.models.features.features import FEATURES, Features
from unknot.models.predictor.linear import most_labels
from unknot.models.predictor.predictor import Inputs, Predictors, fit_predictor
from unknot.models.predictor.targets import deal, folds_of
from unknot.models.spec import NodeSpec
from unknot.train.config import TrainConfig
from unknot.train.epochs import Epochs
from unknot.train.loop import Result, fit
from unknot.workflow.class_weights import reweighed
from unknot.workflow.labels import has_classes
from unknot.workflow.out_of_fold import OutOfFold
from unknot.workflow.trained_model import TrainedModel, items_at_once

if TYPE_CHECKING:
    from lightning_fabric import Fabric

FOLDS = 3  # of a model that is trained again
FEWEST_LABELS = 8  # of which an error can be estimated
REFIT_SHARE = 0.3  # of the steps, of a model that is trained again
_MOST_HIDDEN = 3000  # items whose labels are hidden in turn
_MOST_NUMBERS = 1 << 25  # of the features of labeled items; 128 MB

OwnPredictions = Mapping[str, tuple[Tensor, Tensor]]  # by factor the ids of items, and predictions for them


def cross_fitted(
    model: TrainedModel,
    data: Dataset,
    config: TrainConfig,
    result: Result,
    *,
    warm: bool = False,
    fabric: Fabric | None = None,
) -> TrainedModel:
    """Return a trained model with predictors and out-of-fold predictions, where ``train.cross_fit`` asks for them.

    Default models are cross-fitted unless it is 0; described and programmed models where it is the number of folds.
    The model itself is not changed: it was trained on all labels. If cross-fitting is interrupted, the model is
    returned as it was, and a message says that there is no estimate of the error.

    Parameters
    ----------
    model : TrainedModel
        The trained model.
    data : Dataset
        The data that it was trained on, with their labels.
    config : TrainConfig
        How it was trained.
    result : Result
        How its training ended.
    warm : bool, default=False
        Whether the training started from weights that had seen labels.
    fabric : Fabric, optional
        The connection of this process.

    Returns
    -------
    TrainedModel
    """
    model = replace(model, predictors=None, out_of_fold={})
    default = None if model.source.default is None else FOLDS
    folds = default if config.cross_fit is None else config.cross_fit
    nodes = [node for node in model.labeled if _can_be_predicted(node, data)]
    if not folds or not nodes or result.stopped_because == "interrupted":
        return model
    try:
        predictions: OwnPredictions = {} if warm else model.program.out_of_fold()
        if any(node.name not in predictions for node in nodes):
            predictions = _refitted(model, data, config, result.steps, folds, fabric)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            return _stacked(model, nodes, data, predictions, config.seed)
    except KeyboardInterrupt:
        print("Interrupted: there is no estimate of the error; the trained model is kept.", file=sys.stderr)
        return model


def _can_be_predicted(node: NodeSpec, data: Dataset) -> bool:
    """Whether there are enough labels of a factor of classes or numbers."""
    factor = data.factors.get(node.name)
    if factor is None or int(factor.known.sum()) < FEWEST_LABELS:
        return False
    if factor.kind == "continuous":
        return family_of(node).gaussian
    yes_or_no = factor.kind == "binary" and node.size == 1
    return (has_classes(node) or yes_or_no) and len(factor.values[factor.known].unique()) > 1


# ---- the model's own predictions, by refits ----------------------------------------------------------------


def _refitted(
    model: TrainedModel, data: Dataset, config: TrainConfig, steps: int, folds: int, fabric: Fabric | None
) -> OwnPredictions:
    """Train the model again without the labels of each fold, and predict the items of the fold.

    All labels of an item are hidden together. A refit has three tenths of the steps, so that three refits cost less
    than the fit, and at most 3,000 items have their labels hidden.
    """
    rows, fold_of_row = _item_folds(data, folds, config.seed)
    short = _shortened(config, steps)
    found: dict[str, list[tuple[Tensor, Tensor]]] = {}
    for fold in range(folds):
        if config.progress and sys.stderr.isatty():
            print(f"Cross-fitting: refit {fold + 1} of {folds}, {short.steps} steps.", file=sys.stderr)
        hidden = rows[fold_of_row == fold]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            again = replace(model, module=model.source.build(model.shape), class_weights={})
        shown = _without_labels(data, hidden)
        result = fit(again.module, shown, _with_whole_batches(short, shown, fabric), fabric=fabric)
        if result.stopped_because == "interrupted":
            raise KeyboardInterrupt
        again.module.to(model.device).eval()
        for name, predictions in _predictions(again, data, hidden).items():
            found.setdefault(name, []).append((data.ids[hidden], predictions))
    return {name: (torch.cat([i for i, _ in p]), torch.cat([y for _, y in p])) for name, p in found.items()}


def _shortened(config: TrainConfig, steps: int) -> TrainConfig:
    def shorter(count: int) -> int:
        return max(1, round(REFIT_SHARE * count))

    stages = tuple({**stage, "steps": shorter(stage["steps"])} for stage in config.stages)
    return replace(config, steps=shorter(steps), epochs=None, stages=stages, patience=None)


def _with_whole_batches(config: TrainConfig, data: Dataset, fabric: Fabric | None) -> TrainConfig:
    """Make the batches smaller where an epoch is of labeled items alone, which are fewer in a refit."""
    world = 1 if fabric is None else fabric.world_size
    rows = len(Epochs(data, config, 0, world, 1).order(0))
    return (
        config if rows >= config.batch_size else replace(config, batch_size=max(world, rows - rows % world))
    )


def _item_folds(data: Dataset, folds: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return rows with labels, and the fold of each, in which the labels of all factors are mixed alike."""
    rows = any_known(data, None).nonzero()[:, 0].cpu()
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed))
    rows = rows[order[:_MOST_HIDDEN]].sort().values
    keys = [_order_key(factor)[rows.numpy()] for factor in data.factors.values()]
    ties = np.random.default_rng(seed).random(len(rows))
    place = np.empty(len(rows), dtype=np.int64)
    place[np.lexsort([ties, *reversed(keys)])] = np.arange(len(rows))
    return rows, folds_of(torch.from_numpy(place), folds, seed)


def _order_key(factor: Factor) -> np.ndarray:
    values = factor.values.cpu().numpy()
    return np.nan_to_num(values.reshape(len(values), -1).sum(1), nan=-np.inf)


def _without_labels(data: Dataset, rows: Tensor) -> Dataset:
    keep = torch.ones(len(data), dtype=torch.bool, device=data.device)
    keep[rows.to(data.device)] = False
    return replace(data, factors={name: factor.hide(keep) for name, factor in data.factors.items()})


def _predictions(model: TrainedModel, data: Dataset, rows: Tensor) -> dict[str, Tensor]:
    batches = [data.batch(some) for some in rows.split(items_at_once(data.item_shape))]
    parts = [model.predict_batch(batch.x, model.known_inputs(batch)).predictions for batch in batches]
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


# ---- the predictors on top ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Labeled:
    """Labeled items of one factor: rows, labels as arrays, and the model's own out-of-fold predictions."""

    rows: Tensor
    labels: np.ndarray
    own: Tensor


def _stacked(
    model: TrainedModel, nodes: list[NodeSpec], data: Dataset, predictions: OwnPredictions, seed: int
) -> TrainedModel:
    """Fit a predictor for each factor."""
    features = _features(model, data)
    most = 5000 if features is None else _most_rows(features)
    by_factor, out_of_fold = {}, {}
    for node in nodes:
        name = node.name
        labeled = _labeled(data, data.factors[name], *predictions[name], most, seed)
        targets = deal(labeled.labels, labeled.own.shape[1])
        inputs = None if features is None else _inputs(features, data, labeled.rows)
        made = fit_predictor(inputs, labeled.own, targets, seed)
        by_factor[name] = made.predictor
        found = made.predictions
        if name in model.class_weights:
            found = reweighed(torch.from_numpy(found), model.class_weights[name]).numpy()
        out_of_fold[name] = OutOfFold(
            factor=name,
            ids=data.ids[labeled.rows].cpu().numpy(),
            labels=labeled.labels,
            predictions=found,
            linear=made.linear,
            folds=targets.folds,
        )
    return replace(model, predictors=Predictors(features, by_factor).eval(), out_of_fold=out_of_fold)


def _features(model: TrainedModel, data: Dataset) -> Features | None:
    learned, default = model.program.item_features(), model.source.default
    if isinstance(learned, Features):
        return copy.deepcopy(learned)
    if default is not None and default.FEATURES is not None:
        return FEATURES[default.FEATURES].for_data(data)
    return next((one.for_data(data) for one in FEATURES.values() if one.suits(data)), None)


def _most_rows(features: Features) -> int:
    return min(most_labels(features.linear_size), max(500, _MOST_NUMBERS // max(1, features.size)))


def _labeled(data: Dataset, factor: Factor, ids: Tensor, own: Tensor, most: int, seed: int) -> _Labeled:
    """Return at most ``most`` labeled items that have a prediction, in the order of their ids."""
    place = {one: row for row, one in enumerate(data.ids.tolist())}
    rows = torch.tensor([place[one] for one in ids.tolist()])
    known = factor.known.cpu()[rows]
    chosen = known.nonzero()[:, 0]
    if len(chosen) > most:
        order = torch.randperm(len(chosen), generator=torch.Generator().manual_seed(seed))
        chosen = chosen[order[:most]]
    chosen = chosen[ids.cpu()[chosen].argsort()]
    rows, own = rows[chosen], own.cpu()[chosen]
    labels = factor.values.cpu()[rows].numpy()
    if factor.kind == "continuous":
        return _Labeled(rows, labels.reshape(len(labels), -1).astype(np.float64), own)
    return _Labeled(rows, labels, torch.cat([1 - own, own], 1) if own.shape[1] == 1 else own)


@torch.no_grad()
def _inputs(features: Features, data: Dataset, rows: Tensor) -> Inputs:
    parts = rows.split(items_at_once(data.item_shape))
    return Inputs.joined([Inputs.of(features, data.batch(some.to(data.device)).x.cpu()) for some in parts])
