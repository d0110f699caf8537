"""The validation set of early stopping: a part of the labels, or of the items if there are no labels."""

from __future__ import annotations

import torch

from unknot.core.tracing import trace
from unknot.data.dataset import Dataset
from unknot.data.label_budget import LabelBudget
from unknot.errors import SpecError
from unknot.objectives.elbo import elbo
from unknot.train.config import TrainConfig
from unknot.train.held_out import HeldOut
from unknot.workflow.evaluation import evaluate
from unknot.workflow.trained_model import TrainedModel

SHARE = 0.2  # of the visible labels of each factor, or of the items
_CHUNK = 1000


def hold_out(model: TrainedModel, data: Dataset, config: TrainConfig) -> tuple[Dataset, HeldOut | None]:
    """Split the data for early stopping.

    With labels, a fifth of the labels of each factor is hidden from training, and the score is minus their error.
    Without labels, a fifth of the items is left out, and the score is their ELBO. The training seed decides which.

    Parameters
    ----------
    model : TrainedModel
        The model that is trained.
    data : Dataset
        The training data.
    config : TrainConfig
        How it is trained.

    Returns
    -------
    train : Dataset
        The data to train on: all of them without patience.
    held_out : callable or None
        The score of the held-out part, better when larger; None without patience.
    """
    if config.patience is None:
        return data, None
    if any(bool(factor.known.any()) for factor in data.factors.values()):
        return _hold_out_labels(model, data, config.seed)
    return _hold_out_items(model, data, config.seed)


def _hold_out_labels(model: TrainedModel, data: Dataset, seed: int) -> tuple[Dataset, HeldOut]:
    everything = dict.fromkeys(data.factors, "all")
    budget = LabelBudget(data.name, data.fingerprint(), seed, everything, everything)  # type: ignore[arg-type]
    kept, held_out = budget.validation(data, SHARE, seed=seed)
    if not any(held_out.items.values()):
        raise SpecError(
            "train.patience: it stops by the error on a fifth of the labels that may be seen, and there are too "
            "few to hold any out; show more labels, or train a number of steps."
        )
    held = held_out.apply(data)
    rows = torch.stack([factor.known for factor in held.factors.values()]).any(0)
    asked = held.subset(rows)

    def score(module: torch.nn.Module) -> float:
        """Return minus the error on the held-out labels, averaged over factors."""
        found = evaluate(model, asked)
        return -sum(one.value for one in found) / max(len(found), 1)

    return kept.apply(data), score


def _hold_out_items(model: TrainedModel, data: Dataset, seed: int) -> tuple[Dataset, HeldOut]:
    count = round(SHARE * len(data))
    if count == 0:
        raise SpecError(
            f"train.patience: it stops by the bound of a fifth of the items, but {data.name} has only {len(data)}; "
            "train a number of steps."
        )
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed)).to(data.device)
    held = data.subset(order[:count].sort().values)

    def score(module: torch.nn.Module) -> float:
        """Return the mean ELBO of the held-out items, always with the same draws."""
        torch.manual_seed(seed)
        total = 0.0
        for batch in held.to(model.device).batches(_CHUNK, shuffle=False):
            total += float(elbo(*trace(model.program, batch)).total) * len(batch.x)
        return total / count

    return data.subset(order[count:].sort().values), score
