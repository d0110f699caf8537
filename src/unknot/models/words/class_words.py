"""Words from a class and the rest: logits a(rest) + W_y, for all classes at the cost of one matrix product."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from unknot.core.axes import cat
from unknot.errors import SpecError
from unknot.models.by_name import Named
from unknot.models.networks.mlp import layers, mlp
from unknot.models.networks.network import Decoder, Head, Place
from unknot.models.node_spec import NodeSpec
from unknot.models.words.counts import chosen_logits, multinomial_coefficient, word_counts, words_of_classes
from unknot.schema import Schema

if TYPE_CHECKING:
    from unknot.models.graphical_model import GraphicalModel

_SMALLEST = 1e-30  # keeps logarithms of sums finite
_SWEEPS = 15  # of EM at the start
PRIOR_WORDS = 2000.0  # of the corpus, in every class's prior


@dataclass(frozen=True)
class ClassLogits:
    """Logits of words for every item, as a sum that is not computed: ``rest + y @ weights``.

    Attributes
    ----------
    rest : Tensor
        ``(..., B, V)`` or ``(V,)``.
    y : Tensor
        One-hot classes, ``(..., B, C)``.
    weights : Tensor
        ``(C, V)``.
    """

    rest: Tensor
    y: Tensor
    weights: Tensor

    @property
    def expanded(self) -> Tensor:
        """``rest`` with all axes of the logits; it takes no memory."""
        leading = torch.broadcast_shapes(self.rest.shape[:-1], self.y.shape[:-1])
        return self.rest.expand(*leading, self.weights.shape[-1])

    def logits(self) -> Tensor:
        """Return the sum, ``(..., B, V)``."""
        return self.rest + self.y @ self.weights

    def log_likelihood(self, x: Tensor) -> Tensor:
        """log Multinomial(x | softmax(logits)) of each document, ``(..., B)``.

        The normalizer of class c is log sum_v exp(a_v) exp(W_cv): for all items and classes one product of two
        matrices, where the sum over ``logits`` would take an array of items x classes x words.
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


class ClassWords(Decoder):
    """From a one-hot class and other parents to :class:`ClassLogits`.

    Parameters
    ----------
    name : str
        The class parent.
    classes : int
        Its number of classes.
    others : mapping from str to int
        The sizes of the other parents.
    words : int
        V.
    hidden : sequence of int
        Layers from the other parents to ``rest``; without other parents ``rest`` is one number per word.
    prior_words : float
        The conjugate prior of the classes' word probabilities: every class has seen this number of words of the
        whole corpus beside its own, which keeps a class with few documents near the common words.
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"hidden": layers()}

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

    @classmethod
    def build(cls, place: Place, hidden: Sequence[int] = ()) -> Self:
        classes = next((one for one in place.parents if one.name == "categorical"), None)
        if classes is None or len(place.shape) != 1:
            raise place.refuse("decoder class_words makes words from a categorical parent, and there is none")
        others = {one.spec.name: one.value_size for one in place.parents if one is not classes}
        prior = place.likelihood.options.get("prior_words", PRIOR_WORDS)
        return cls(classes.spec.name, classes.size, others, place.shape[0], hidden, prior)

    def prepare(self, data: Any, transform: Callable[[Tensor], Tensor]) -> None:
        """Start at the result of naive Bayes with EM: the bound's maximum over the words of classes alone.

        Each class starts at the words of its labeled documents; then, in turn, unlabeled documents are distributed
        over the classes by Bayes' rule, and each class takes the words of its documents (Nigam et al. 2000). Without
        labels, all classes start alike but for some noise.
        """
        self.items = len(data)
        batches = [replace(one, x=transform(one.x)) for one in data.batches(1000, shuffle=False)]
        with torch.no_grad():
            blank = torch.zeros_like(self.weights)
            marks = [_marks(batch, self.name, blank) for batch in batches]
            known = any(bool(each.max() == 1.0) for each in marks)  # words of documents with one class alone
            seen = sum(
                (
                    _words_by_class(b.x, m * (m == 1.0) if known else m)
                    for b, m in zip(batches, marks, strict=True)
                ),
                blank,
            )
            self.common.copy_(log_shares_of(batches))
            if not bool(seen.any()):
                self.weights.normal_(0.0, 0.1)
                return
            self._take(seen)
            for _ in range(_SWEEPS):
                self._take(sum((self._shared(batch) for batch in batches), blank))

    def _shared(self, batch: Any) -> Tensor:
        """Return the words of a batch by class, ``(C, V)``: by labels where known, else by Bayes' rule."""
        logits = self.at_prior_mean().class_log_likelihoods(batch.x)
        potential = _potential(batch, self.name, self.weights)
        return _words_by_class(batch.x, (logits + potential).softmax(-1))

    def _take(self, words: Tensor) -> None:
        """Set every class to the shares of its words, ``(C, V)``, and of the prior's."""
        counted = words + (self.prior_words or 1.0) * self.common.softmax(-1)
        self.weights.copy_((counted / counted.sum(-1, keepdim=True)).log() - self.common)

    def decode(self, features: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> ClassLogits:
        rest: Tensor = self.common
        if self.network is not None:
            rest = rest + self.network(cat([features[name] for name in self.others]))  # (..., B, V)
        return ClassLogits(rest, values[self.name], self.weights)

    def at_prior_mean(self) -> ClassLogits:
        """Return the logits of every class with the other parents at their prior mean, 0."""
        rest: Tensor = self.common
        if self.network is not None:
            rest = rest + self.network(self.common.new_zeros(self.inputs))
        return ClassLogits(rest, torch.eye(len(self.weights), device=rest.device), self.weights)

    def log_prior(self) -> Tensor | None:
        """Return an item's share of the log prior: m/N sum_c sum_w s_w log p(w | c), s the shares of the corpus."""
        if not self.prior_words or not self.items:
            return None
        shares = self.common.detach().softmax(-1)
        each = (self.common + self.weights).log_softmax(-1) @ shares  # (C,)
        return self.prior_words / self.items * each.sum()


class BayesHead(Head):
    """The encoder of a class that words are made from: Bayes' rule, from the decoder's own words of each class."""

    OPTIONS: ClassVar[Mapping[str, Schema]] = {}
    uses_features = False

    @classmethod
    def check(cls, named: Named, node: NodeSpec, nodes: Sequence[NodeSpec], where: str) -> None:
        super().check(named, node, nodes, where)
        data = next((one for one in nodes if one.is_data), None)
        made = data is not None and data.family.name == "multinomial" and node.name in data.parents
        if node.family.name != "categorical" or not made:
            raise SpecError(
                f"node '{node.name}': encoder bayes is for a categorical node that words (multinomial) are made from"
            )

    @classmethod
    def build(cls, place: Place) -> Self:
        return cls(place)

    def forward(self, inputs: Mapping[str, Tensor], learn: bool = False) -> Tensor:
        raise SpecError(f"node '{self.node}': encoder bayes needs the words themselves, not their features")

    def recognize(self, model: GraphicalModel, x: Tensor, inputs: Mapping[str, Tensor]) -> Tensor:
        """Return log p(y) + log p(x | y) up to a constant, for every class; other parents at their prior mean."""
        words = model.generation[model.spec.data.name]
        if not isinstance(words, ClassWords) or words.name != self.node:
            raise SpecError(
                f"node '{self.node}': encoder bayes needs words whose classes are those of the node"
            )
        return words.at_prior_mean().class_log_likelihoods(x) + model.prior(self.node)


def _potential(batch: Any, name: str, like: Tensor) -> Tensor:
    """Log-potentials of the classes for a batch, ``(B, C)``: what its labels say."""
    if name in batch.evidence:
        evidence: Tensor = batch.evidence[name]
        return evidence
    potential = torch.zeros(len(batch), len(like), device=like.device)
    if name in batch.values:
        known = batch.known[name]
        potential[known] = torch.where(one_hot(batch.values[name][known], len(like)) == 1, 0.0, -torch.inf)
    return potential


def _marks(batch: Any, name: str, like: Tensor) -> Tensor:
    """The labels of a batch as shares of the classes, ``(B, C)``; rows of zeros where they are unknown."""
    potential = _potential(batch, name, like)
    return potential.softmax(-1) * (potential != 0).any(1, keepdim=True)


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
