"""Counts, each with its own rate or as a bag of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Size, Tensor
from torch.nn.functional import softplus

from unknot.core.trace import Trace
from unknot.errors import DataError
from unknot.models.by_name import Named
from unknot.models.families.family import Family
from unknot.models.likelihoods.likelihood import Likelihood
from unknot.models.networks.network import Trunk
from unknot.models.node_spec import NodeSpec
from unknot.models.words.class_words import ClassLogits
from unknot.models.words.counts import CountTrunk, word_log_likelihood
from unknot.models.words.tfidf import WordWeights, refuse_fractions
from unknot.schema import Schema, choice, number

DRAWN_WORDS = 100  # in a document that is drawn


class PoissonLikelihood(Likelihood):
    """Counts, each with its own rate."""

    name = "poisson"

    def vector_trunk(self, hidden: Sequence[int] | None) -> Trunk:
        return CountTrunk(self.shape, hidden or (self.width,))

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        trace.poisson(softplus(outputs) + 1e-6, value=x, name=name, event_dims=len(self.shape))

    def mean(self, outputs: Tensor) -> Tensor:
        return softplus(outputs)


class MultinomialLikelihood(PoissonLikelihood):
    """Bags of words: the words of a document given its length, from dense or sparse counts.

    A ``categorical`` parent has weights of its own for every word (:class:`ClassWords`), whose prior counts
    ``prior_words`` of the whole corpus. ``weights: tfidf`` weighs the counts (:class:`WordWeights`).
    """

    name = "multinomial"
    OPTIONS: ClassVar[Mapping[str, Schema]] = {"weights": choice(["tfidf"]), "prior_words": number(0)}
    entrywise = False

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__(spec, shape, width)
        self.weights = WordWeights(self.shape[0]) if self.options.get("weights") == "tfidf" else None

    @classmethod
    def suits(cls, x: Tensor, table: bool) -> bool:
        return not table and not x.is_floating_point() and x.ndim == 2 and bool((x >= 0).all())

    @classmethod
    def check_items(cls, spec: NodeSpec, x: Tensor) -> None:
        if float(x.min()) < 0:
            raise DataError(
                f"x holds {float(x.min()):g}, but the model was fitted on counts, which are at least 0."
            )
        if "weights" in spec.family.options:
            refuse_fractions(x)

    def default_decoder(self, parents: Sequence[Family]) -> Named:
        if len(self.shape) == 1 and any(one.name == "categorical" for one in parents):
            return Named("class_words")
        return Named("mlp", {"hidden": []})

    def prepare(self, data: Any) -> None:
        if self.weights is not None:
            self.weights.prepare(data)

    def transform(self, x: Tensor) -> Tensor:
        return x if self.weights is None else self.weights(x)

    def site(self, trace: Trace, outputs: Any, x: Tensor | None, name: str) -> None:
        if x is None:
            trace.multinomial(DRAWN_WORDS, logits=_all_logits(outputs), name=name)
        elif isinstance(outputs, ClassLogits):
            trace.loss(lambda *_: -outputs.log_likelihood(x), outputs.expanded, x, name=name)
        else:
            trace.loss(lambda logits, counts: -word_log_likelihood(logits, counts), outputs, x, name=name)

    def mean(self, outputs: Any) -> Tensor:
        return _all_logits(outputs).softmax(-1)


def _all_logits(outputs: Any) -> Tensor:
    return outputs.logits() if isinstance(outputs, ClassLogits) else outputs
