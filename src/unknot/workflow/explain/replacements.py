"""What stands in place of a column: draws given the other columns, values of other items, or nothing for a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from unknot.core.tracing import trace
from unknot.workflow.trained_model import TrainedModel, items_at_once


def draws_conditionally(model: TrainedModel) -> bool:
    """Return whether the model can draw some columns given the others: models of tables take missing values."""
    return model.nodes[-1].family.name == "table"


@torch.no_grad()
def conditional_draws(model: TrainedModel, x: Tensor, columns: Sequence[int]) -> Tensor:
    """Draw columns given the others: z and y from q(z, y | x without them), then the columns from p(x | z, y).

    Parameters
    ----------
    model : TrainedModel
        A model of a table.
    x : Tensor
        Rows, ``(N, C)``; the values of ``columns`` are not looked at.
    columns : sequence of int
        The G columns.

    Returns
    -------
    Tensor
        ``(N, G)``, by torch's global generator.
    """
    hidden = x.clone()
    hidden[:, columns] = torch.nan
    parts = []
    for rows in hidden.split(items_at_once(model.shape)):
        q = trace(model.program.encode, rows.to(model.device))
        parts.append(model.program.sample_data(q).reshape(rows.shape)[:, columns].cpu())
    return torch.cat(parts)


def draws_of_others(others: Tensor, count: int, columns: Sequence[int]) -> Tensor:
    """Draw columns together from other items ``(M, C)``, ``(count, G)``, by torch's global generator."""
    return others[torch.randint(len(others), (count,))][:, columns]


def without_words(x: Tensor, most: int) -> tuple[Iterator[Tensor], np.ndarray, np.ndarray]:
    """Leave each word out of each text that has it.

    Parameters
    ----------
    x : Tensor
        Counts ``(N, V)``, dense or sparse.
    most : int
        How many words are left out at most; words of more texts come first.

    Returns
    -------
    variants : iterator of Tensor
        Counts ``(V', V)`` with one word left out, in parts, of the layout of ``x``.
    rows : ndarray of shape (R,)
        The text of each variant.
    words : ndarray of shape (R,)
        The word that is left out.
    """
    dense = x.to_dense()
    rows, words = (one.numpy() for one in dense.nonzero(as_tuple=True))
    texts = np.bincount(words, minlength=dense.shape[1])
    chosen = np.sort(np.argsort(-texts[words], kind="stable")[:most])
    rows, words = rows[chosen], words[chosen]

    def variants() -> Iterator[Tensor]:
        step = items_at_once(dense.shape[1:])
        for start in range(0, len(rows), step):
            part = dense[rows[start : start + step]]
            part[np.arange(len(part)), words[start : start + step]] = 0
            yield part.to_sparse() if x.is_sparse else part

    return variants(), rows, words
