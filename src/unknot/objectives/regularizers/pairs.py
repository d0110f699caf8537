"""Pairs: items that are known to be of the same class, or of different classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from unknot.core.program import Program
from unknot.core.site_prediction import first_draw, has_classes
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.suggest import did_you_mean

Ids = Sequence[Sequence[int]]


def pairs(
    program: Program,
    batch: Any,
    q: Trace,
    p: Trace,
    *,
    site: str,
    must_link: Ids = (),
    cannot_link: Ids = (),
) -> dict[str, Tensor]:
    """Cross entropy between what is known of pairs of items and their predictions, for a site of classes.

    The classes of two items i, j are the same with probability s_ij = Σ_k q(k | x_i) q(k | x_j), where an item whose
    class is known is of that class. The penalty is

        -log s_ij            for a pair that must link,
        -log (1 - s_ij)      for one that cannot,

    half of it at each of the two items. A pair counts in the batches that hold both of its items, so with batches of B
    of N items once in about (N / B)² batches; with few pairs, use large batches.

    Parameters
    ----------
    program : Program
        Any program.
    batch : Batch
        The items, with their ids.
    q, p : Trace
        Their traces.
    site : str
        The site of classes.
    must_link, cannot_link : sequence of pairs of int
        Ids of the items: their positions in the data.

    Returns
    -------
    dict from str to Tensor
        ``pairs_SITE``, one penalty per item.
    """
    classes = [node.name for node in q.variables() if has_classes(node.dist)]
    if site not in classes:
        raise SpecError(f"pairs: the encoder has no site of classes '{site}'; {did_you_mean(site, classes)}")
    log_probs = _log_probs(q, site)
    first, second = _members(must_link, batch.ids)
    same = (log_probs[first] + log_probs[second]).logsumexp(-1)
    one, other = _members(cannot_link, batch.ids)
    apart = (log_probs[one] + log_probs[other]).logsumexp(-1)
    tiny = torch.finfo(apart.dtype).eps
    penalties = torch.cat([-same, -torch.log1p(-apart.exp().clamp(max=1 - tiny))]) / 2
    items = torch.cat([first, one]), torch.cat([second, other])
    total = log_probs.new_zeros(len(log_probs))
    for index in items:
        total = total.index_add(0, index, penalties)
    return {f"pairs_{site}": total}


def _log_probs(q: Trace, site: str) -> Tensor:
    """log q of every class, given an item's evidence, (B, K); a known class has nearly all the probability."""
    node = q[site]
    log_probs = first_draw(node.dist.logits.log_softmax(-1), 1).expand(*q.leading_shape[-1:], -1)
    if node.known is False:
        return log_probs.clamp_min(-80.0)
    label = first_draw(node.value if node.label is None else node.label, node.event_dims)
    index = label.argmax(-1) if node.event_dims else label
    every = torch.arange(log_probs.shape[-1], device=log_probs.device)
    known = torch.as_tensor(node.known, device=log_probs.device).expand(len(log_probs))
    given = torch.where(every == index.unsqueeze(-1), 0.0, -80.0)
    return torch.where(known.unsqueeze(-1), given.to(log_probs), log_probs.clamp_min(-80.0))


def _members(ids: Ids, batch: Tensor) -> tuple[Tensor, Tensor]:
    """Rows in the batch of the two items of each pair that it holds."""
    pairs = torch.as_tensor(ids, dtype=batch.dtype, device=batch.device).reshape(-1, 2)
    sorted_ids, order = batch.sort()
    place = torch.searchsorted(sorted_ids, pairs).clamp(max=len(batch) - 1)
    found = (sorted_ids[place] == pairs).all(1)
    rows = order[place[found]]
    return rows[:, 0], rows[:, 1]
