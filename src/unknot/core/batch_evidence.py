"""The labels of a batch as what sites take: values, or evidence where a label is not one value."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unknot.core.evidence import Partial, partial
from unknot.errors import SpecError


def site_value(batch: Any, name: str, confusion: Tensor | None = None) -> Tensor | Partial:
    """Return what is known about one factor of a batch, for the ``value=`` of its site.

    Parameters
    ----------
    batch : Batch
        By factor label ``values``, and ``evidence`` and ``votes`` of factors that have such labels.
    name : str
        The factor.
    confusion : Tensor, optional
        p(reported class | class) of each rater, ``(M, K, K)``.

    Returns
    -------
    Tensor or Partial
        The values themselves where all labels are single values.
    """
    values: Tensor = batch.values[name]
    all_votes, all_evidence = (
        getattr(batch, "votes", {}),
        getattr(batch, "evidence", {}),
    )  # not in a batch of users' own
    if name in all_votes:
        if confusion is None:
            raise SpecError(
                f"the labels of '{name}' are votes, but the model has no confusion matrices of raters: say raters: "
                f"{all_votes[name].shape[1]} at its node, or give the node of your program "
                "unknot.partial(votes, confusion=...)."
            )
        certain = torch.eye(confusion.shape[-1]).to(confusion)[None]  # a label is a vote that is always right
        votes = torch.cat([all_votes[name], values[:, None]], 1)
        return partial(votes, confusion=torch.cat([confusion, certain]))
    if name not in all_evidence:
        return values
    evidence: Tensor = all_evidence[name]
    if values.is_floating_point():
        return partial(low=evidence[:, :1], high=evidence[:, 1:])  # (B, 1): a vector of one number
    return partial(probabilities=evidence.exp())
