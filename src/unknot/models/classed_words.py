"""Words from a class and the rest: logits a(rest) + W_y, for all classes at the cost of one matrix product."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from unknot.core.axes import cat
from unknot.models.networks import mlp
from unknot.models.word_networks import chosen_logits, multinomial_coefficient, word_counts, words_of_classes

_SMALLEST = 1e-30  # keeps logarithms of sums finite
_SWEEPS = 15  # of EM at the start


@dataclass(frozen=True)
class ClassedLogits:
    """Logits of words at every item, in parts: ``rest`` ``(..., B, V)`` or ``(V,)``, and of the class ``y`` one-hot
    ``(..., B, C)`` the row of ``weights`` ``(C, V)``."""

    rest: Tensor
    y: Tensor
    weights: Tensor

    @property
    def shown(self) -> Tensor:
        """``rest`` with all axes of the logits; it takes no memory."""
        return self.rest.expand(*self.y.shape[:-1], self.weights.shape[-1])

    def whole(self) -> Tensor:
        """The sum, ``(..., B, V)``: what a softmax makes probabilities of."""
        return self.rest + self.y @ self.weights

    def log_likelihood(self, x: Tensor) -> Tensor:
        """log Multinomial(x | softmax(whole)) of each document, ``(..., B)``.

        The normalizer of class c is log sum_v exp(a_v) exp(W_cv): for all items and classes one product of two
        matrices, where the sum over ``whole`` would take an array of items x classes x words.
        """
        total = word_counts(x)
        chosen = _chosen(self.rest, x)[..., None] + words_of_classes(self.weights, x)  # (..., B, C)
        scores = chosen - total[:, None] * self._normalizers()
        return multinomial_coefficient(x, total) + (self.y * scores).sum(-1)

    def class_log_likelihoods(self, x: Tensor) -> Tensor:
        """log p(x | class) of each document and class but for the coefficient, ``(B, C)``; ``rest`` is ``(V,)``."""
        log_shares = (self.rest + self.weights).log_softmax(-1)
        return words_of_classes(log_shares, x)

    def _normalizers(self) -> Tensor:
        top, tops = self.rest.amax(-1, keepdim=True), self.weights.amax(-1)  # (..., B, 1) or (1,), (C,)
        product = (self.rest - top).exp() @ (self.weights - tops[:, None]).exp().T
        return torch.log(product + _SMALLEST) + top + tops


def _chosen(rest: Tensor, x: Tensor) -> Tensor:
    """sum_w x_w a_w, ``(..., B)``."""
    if rest.ndim == 1:
        return words_of_classes(rest[None], x)[:, 0]
    return chosen_logits(rest, x)


class ClassedWords(nn.Module):
    """From a one-hot class and other parents to :class:`ClassedLogits`.

    Arguments:
        name, classes: the class parent, and how many classes it has.
        others: the sizes of the other parents, by name.
        words: V.
        hidden: layers from the other parents to ``rest``; without other parents ``rest`` is one number a word.
        prior_words: how many words of the whole corpus every class is believed to have seen beside its own: the
            conjugate prior of its shares, which keeps a class with few documents near the common words.
    """

    def __init__(
        self,
        name: str,
        classes: int,
        others: Mapping[str, int],
        words: int,
        hidden: Sequence[int],
        prior_words: float,
    ) -> None:
        super().__init__()
        self.name, self.others, self.prior_words = name, tuple(others), prior_words
        self.common = nn.Parameter(torch.zeros(words))
        self.weights = nn.Parameter(torch.zeros(classes, words))
        self.inputs = sum(others.values())
        self.network = mlp(self.inputs, hidden, words) if others else None
        self.items = 0  # of the data set, once it is known

    def prepare(self, data: Any, weigh: Callable[[Tensor], Tensor]) -> None:
        """Begin where naive Bayes with EM ends: the bound's maximum over the words of classes alone.

        Each class starts at the words of its labeled documents; then, in turn, unlabeled documents are shared among
        the classes by Bayes' rule, and each class takes the words of its shares (Nigam et al. 2000). ``data`` gives
        batches with the labels that may be seen; without any, all classes start alike but for some noise. ``weigh``
        makes of counts what the model sees of them.
        """
        self.items = len(data)
        batches = [replace(one, x=weigh(one.x)) for one in data.batches(1000, shuffle=False)]
        with torch.no_grad():
            blank = torch.zeros_like(self.weights)
            seen = sum((_words_by_class(b.x, _marks(b, self.name, blank)) for b in batches), blank)
            self.common.copy_(log_shares_of(batches))
            if not bool(seen.any()):
                self.weights.normal_(0.0, 0.1)
                return
            self._take(seen)
            for _ in range(_SWEEPS):
                self._take(sum((self._shared(batch) for batch in batches), blank))

    def _shared(self, batch: Any) -> Tensor:
        """Words of a batch by class, ``(C, V)``: a labeled document's in its class, any other's by Bayes' rule."""
        logits = self.at_rest().class_log_likelihoods(batch.x)
        marks = _marks(batch, self.name, self.weights)
        labeled = marks.any(1, keepdim=True)
        return _words_by_class(batch.x, torch.where(labeled, marks, logits.softmax(-1)))

    def _take(self, words: Tensor) -> None:
        """Give every class the shares of its words, ``(C, V)``, and of the prior's."""
        counted = words + (self.prior_words or 1.0) * self.common.softmax(-1)
        self.weights.copy_((counted / counted.sum(-1, keepdim=True)).log() - self.common)

    def forward(self, values: Mapping[str, Tensor]) -> ClassedLogits:
        rest: Tensor = self.common
        if self.network is not None:
            rest = rest + self.network(cat([values[name] for name in self.others]))  # (..., B, V)
        return ClassedLogits(rest, values[self.name], self.weights)

    def at_rest(self) -> ClassedLogits:
        """The logits of every class with the other parents at their prior mean, 0."""
        rest: Tensor = self.common
        if self.network is not None:
            rest = rest + self.network(self.common.new_zeros(self.inputs))
        return ClassedLogits(rest, torch.eye(len(self.weights), device=rest.device), self.weights)

    def log_prior(self) -> Tensor | None:
        """An item's share of the log prior of the classes' words: m/N sum_c sum_w s_w log p(w | c), s the corpus's."""
        if not self.prior_words or not self.items:
            return None
        shares = self.common.detach().softmax(-1)
        each = (self.common + self.weights).log_softmax(-1) @ shares  # (C,)
        return self.prior_words / self.items * each.sum()


def _marks(batch: Any, name: str, like: Tensor) -> Tensor:
    """One-hot labels of a batch, ``(B, C)``; rows of zeros where they are unknown."""
    marks = torch.zeros(len(batch), len(like), device=like.device)
    if name in batch.values:
        known = batch.known[name]
        marks[known.nonzero()[:, 0], batch.values[name][known]] = 1.0
    return marks


def _words_by_class(x: Tensor, shares: Tensor) -> Tensor:
    """Words of documents ``(B, V)``, shared among classes by ``(B, C)``: ``(C, V)``."""
    return torch.sparse.mm(x.t(), shares).T if x.is_sparse else shares.T @ x


def log_shares_of(batches: Iterable[Any]) -> Tensor:
    """Logarithms of the words' shares of a corpus, every word counted half a time more."""
    total: Tensor | None = None
    for batch in batches:
        summed = torch.sparse.sum(batch.x, 0).to_dense() if batch.x.is_sparse else batch.x.sum(0)
        total = summed if total is None else total + summed
    assert total is not None
    smoothed = total + 0.5
    return torch.log(smoothed / smoothed.sum())
