"""Which items should be labeled next: those whose label would tell most about the factor of all items."""

from __future__ import annotations

import torch
from torch import Tensor

from unknot.errors import SpecError
from unknot.workflow.trained_model import TrainedModel, item_rows, items_at_once

_MOST_ITEMS = 5000  # candidates; of more a random part
_DIRECTIONS = 32  # in which members differ most
_SMALLEST = 1e-6  # of a probability


@torch.no_grad()
def ask(model: TrainedModel, x: Tensor, k: int, factor: str, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return the k items whose label would help most, in that order, and how much each helps (:func:`most_telling`).

    Parameters
    ----------
    model : TrainedModel
        A model whose predictions of the factor are those of several members: an ensemble, or any model with predictors
        (:mod:`unknot.workflow.cross_fit`).
    x : Tensor
        The items without a label, ``(N, ...)``; of more than 5,000 a random part are candidates.
    k : int
        How many items.
    factor : str
        The factor, which has classes.
    seed : int, default=0
        The seed of that part.

    Returns
    -------
    rows : Tensor of int64, shape (k,)
        The items, by their rows.
    shares : Tensor, shape (k,)
        The share of the variance among the members, over all items, that is expected to be left after the label of the
        item and of those before it.
    """
    if model.data.factors[factor].kind == "continuous":
        raise SpecError(f"factor '{factor}' is continuous: ask() chooses items for factors with classes.")
    if not 1 <= k <= len(x):
        raise SpecError(f"ask() chooses from 1 to {len(x)} items, as many as there are, but k is {k}.")
    rows = torch.arange(len(x))
    if len(x) > max(_MOST_ITEMS, k):
        generator = torch.Generator().manual_seed(seed)
        rows = torch.randperm(len(x), generator=generator)[: max(_MOST_ITEMS, k)].sort().values
    parts, step, weights = [], items_at_once(model.shape), torch.ones(1)
    for start in range(0, len(rows), step):
        chosen = rows[start : start + step]
        items = (
            x.index_select(0, chosen)
            if x.is_sparse or len(rows) < len(x)
            else item_rows(x, start, start + step)
        )
        members, weights = model.members(items, factor)
        parts.append(members)
    order, shares = most_telling(torch.cat(parts, 1), weights, k)
    return rows[order], shares


def most_telling(members: Tensor, weights: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Choose items one by one, each with the largest expected reduction of the variance among members.

    The predictions of M members with weights w differ from their mean p̄ by ``a_m = sqrt(w_m) (p_m - p̄)``. To first
    order the unknown truth is ``p̄ + Σ_m θ_m a_m`` with θ normal, so that items are correlated as the members say. A
    label of an item is an observation of its p with the covariance ``diag(p̄) - p̄ p̄ᵀ`` of a class. The posterior of θ
    after an item has the precision ``Λ + Σ_c a_c a_cᵀ / p̄_c`` whatever the label, and the item that is chosen makes the
    trace of the predictions' covariance, over all items, smallest (V-optimal design). Items that are like those
    chosen before tell little more, which makes the choice diverse.

    Parameters
    ----------
    members : Tensor, shape (M, N, K)
        Class probabilities by each member.
    weights : Tensor, shape (M,)
        The weights of the members, which add up to 1.
    k : int
        How many items.

    Returns
    -------
    order : Tensor of int64, shape (k,)
    shares : Tensor, shape (k,)
        The trace that is left after each choice, as a share of the trace before the first.
    """
    members, weights = members.double(), weights.double()
    mean = torch.einsum("m,mnk->nk", weights, members)
    spread = weights.sqrt()[:, None, None] * (members - mean)  # (M, N, K)
    gram = torch.einsum("mnk,lnk->ml", spread, spread)
    directions = torch.linalg.eigh(gram).eigenvectors[:, -_DIRECTIONS:]  # those in which members differ most
    spread = torch.einsum("mr,mnk->nkr", directions, spread)
    total = directions.T @ gram @ directions
    told = spread / mean.clamp_min(_SMALLEST).sqrt()[..., None]  # (N, K, R)
    covariance = torch.eye(len(total), dtype=total.dtype)
    start = total.trace().clamp_min(1e-300)
    free = torch.ones(len(mean), dtype=torch.bool)
    order, shares = [], []
    for _ in range(k):
        seen = told @ covariance  # (N, K, R)
        inner = torch.eye(mean.shape[1], dtype=total.dtype) + seen @ told.mT  # (N, K, K)
        gain = torch.linalg.solve(inner, seen @ total @ seen.mT).diagonal(dim1=-2, dim2=-1).sum(-1)
        best = int(torch.where(free, gain, -torch.inf).argmax())
        free[best] = False
        covariance = covariance - seen[best].T @ torch.linalg.solve(inner[best], seen[best])
        order.append(best)
        shares.append(float((covariance * total).sum() / start))
    return torch.tensor(order), torch.tensor(shares, dtype=torch.float64)
