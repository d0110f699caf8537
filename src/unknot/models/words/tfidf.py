"""WordWeights: counts of words weighted by tf-idf, with every document of one length."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from unknot.errors import DataError

LENGTH = 5.0  # of documents, as unknot.data.word_counter has it; a test compares the two


class WordWeights(nn.Module):
    """c occurrences of a word count (1 + log c) idf of the word, and a document has the Euclidean length ``length``.

    idf = log((1 + N) / (1 + documents with the word)) + 1, from the N training documents. Words of one document are not
    independent, so a model that counts them one by one is overconfident; weighted counts reduce that. Dense and sparse
    ``(B, V)``; sparse counts are coalesced and stay so.
    """

    def __init__(self, words: int, length: float = LENGTH) -> None:
        super().__init__()
        self.length = length
        self.register_buffer("idf", torch.ones(words))
        self.idf: Tensor

    def prepare(self, data: Any) -> None:
        """Take the words' idf from the training documents."""
        documents = torch.zeros_like(self.idf)
        for batch in data.batches(1000, shuffle=False):
            x = batch.x.coalesce() if batch.x.is_sparse else batch.x
            refuse_fractions(x.values() if x.is_sparse else x)
            documents += (
                torch.bincount(x.indices()[1], minlength=len(documents)) if x.is_sparse else (x > 0).sum(0)
            )
        self.idf.copy_(torch.log((1 + len(data)) / (1 + documents)) + 1)

    def forward(self, x: Tensor) -> Tensor:
        if not x.is_sparse:
            weights = torch.where(x > 0, 1 + torch.log(x.clamp_min(1e-30)), 0.0) * self.idf
            return self.length * weights / weights.norm(dim=-1, keepdim=True).clamp_min(1e-9)
        rows, words = x.indices()
        weights = (1 + torch.log(x.values())) * self.idf[words]
        squares = weights.new_zeros(len(x)).index_add(0, rows, weights**2)
        scaled = weights * (self.length / squares.sqrt().clamp_min(1e-9))[rows]
        return torch.sparse_coo_tensor(
            x.indices(), scaled, x.shape, is_coalesced=True, check_invariants=False
        )


def refuse_fractions(counts: Tensor) -> None:
    """Refuse numbers that are not whole: they are no counts, but perhaps weighed already."""
    if counts.is_floating_point() and bool((fractions := counts != counts.round()).any()):
        raise DataError(
            f"x holds {float(counts[fractions][0]):g}, but the model weighs counts of words by tf-idf itself: "
            "give whole numbers, or describe the model without weights."
        )
