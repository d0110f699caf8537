"""Sleep: an encoder trained on what the generative model dreams."""

from __future__ import annotations

from collections.abc import Mapping

from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.objectives.parts.classifier import Number
from unknot.objectives.supervised import supervised
from unknot.objectives.terms import Terms


def sleep(q: Trace, p: Trace, alpha: Number | Mapping[str, Number] = 1.0) -> Terms:
    """Log-probability, under the encoder, of what a dreamt item was made from,

        log q(v | x̂)        v, x̂ ~ p                           (Hinton et al. 1995, the sleep phase)

    Its mean over dreams is, but for a constant, - E_{p(x)} KL(p(v | x) || q(v | x)): the encoder becomes the
    posterior of the generative model on the items which that model makes, and no label is needed. It covers all that p
    holds possible, where the bound, -KL(q || p), may settle on a part; and choices that pass no gradient are taught
    like any other. How much it helps with real items depends on how much they look like dreams. The generative
    model learns nothing here.

    Arguments:

    * ``q``: the encoder's trace of dreamt items, every site observed at what they were made from, as training
      (:mod:`unknot.train.dreams`) and :func:`~unknot.core.handlers.replay` make it;
    * ``p``: the decoder's;
    * ``alpha``: a weight for the whole; ``{"y": 50.0}`` weighs the site y, and one the others.

    Returns :class:`~unknot.objectives.terms.Terms`, as :func:`~unknot.objectives.supervised` does.

    >>> import torch
    >>> from unknot import Trace
    >>> q, p = Trace(), Trace()
    >>> _ = q.concrete(torch.zeros(3, 2), 0.66, value=torch.tensor([1, 0, 0]), name="y")
    >>> sleep(q, p)["classifier"]
    tensor([-0.6931, -0.6931, -0.6931])
    """
    for node in q.variables():
        if node.known is False:
            raise SpecError(
                f"sleep: q has drawn '{node.name}', which a dream should have said. A sub-model that writes a trace "
                "of its own must be given its values as labels, in the model's method dream(count)."
            )
    return supervised(q, p, alpha)
