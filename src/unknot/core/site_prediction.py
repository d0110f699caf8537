"""SitePrediction: the most likely value of a site and how confident it is, for each item."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.distributions import Categorical, Distribution, OneHotCategorical

from unknot.core.axes import per_item
from unknot.core.gradients import mode
from unknot.core.node import Variable
from unknot.core.relaxed import BinaryConcrete, Concrete


@dataclass(frozen=True)
class SitePrediction:
    """What an encoder predicts for a site.

    Attributes
    ----------
    value : Tensor
        The mode, ``(B, event...)``, without gradient.
    confidence : Tensor
        From 0 to 1, ``(B,)``.
    """

    value: Tensor
    confidence: Tensor


def has_classes(dist: Distribution | None) -> bool:
    """Whether a distribution is over K classes of which a value is one."""
    return isinstance(dist, Concrete | OneHotCategorical | Categorical)


def predict_site(node: Variable) -> SitePrediction:
    """Return the mode of a site's distribution and how confident it is.

    The confidence is the probability of the class, that of the least certain of several binary values, and one for
    other distributions.

    Parameters
    ----------
    node : Variable
        A site of the encoder's trace. Of several draws of what it depends on, the first counts.

    Examples
    --------
    >>> from unknot import Trace
    >>> q = Trace()
    >>> _ = q.concrete(torch.tensor([[0.0, 1.0, 0.0]]), 0.66, name="y")
    >>> predict_site(q["y"])
    SitePrediction(value=tensor([[0., 1., 0.]]), confidence=tensor([0.5761]))
    """
    dist, dims = node.dist, node.event_dims
    value = first_draw(mode(dist).detach(), dims)
    if isinstance(dist, Concrete | OneHotCategorical | Categorical):
        return SitePrediction(value, first_draw(dist.probs.detach(), 1).max(-1).values)
    if isinstance(dist, BinaryConcrete | torch.distributions.Bernoulli):
        probs = first_draw(dist.probs.detach(), dims)
        certain = torch.maximum(probs, 1 - probs)
        return SitePrediction(value, certain.flatten(1).amin(-1) if dims else certain)
    return SitePrediction(value, torch.ones(value.shape[:1], dtype=value.dtype, device=value.device))


def label_or_prediction(
    node: Variable, prediction: SitePrediction, threshold: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return the label of each item where it is known, else the prediction, and where either counts.

    Parameters
    ----------
    node : Variable
        A site of the encoder's trace.
    prediction : SitePrediction
        What the encoder predicts for it.
    threshold : float, default=0.0
        Predictions with less confidence do not count.

    Returns
    -------
    value : Tensor
        ``(B, event...)``, without gradient.
    counts : Tensor
        ``(B,)`` of bool.

    Examples
    --------
    >>> from unknot import Trace, partial
    >>> q = Trace()
    >>> _ = q.concrete(torch.zeros(3, 2), 0.66, value=partial(torch.tensor([1, -1, -1])), name="y")
    >>> prediction = SitePrediction(torch.tensor([[1.0, 0.0]] * 3), torch.tensor([0.5, 0.9, 0.6]))
    >>> value, counts = label_or_prediction(q["y"], prediction, 0.8)
    >>> value.tolist(), counts.tolist()
    ([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]], [True, True, False])
    """
    confident = prediction.confidence >= threshold
    if node.known is False:
        return prediction.value, confident
    known = torch.as_tensor(node.known, device=confident.device).expand_as(confident)
    label = first_draw(node.value if node.label is None else node.label, node.event_dims)
    return torch.where(per_item(known, node.event_dims), label, prediction.value), known | confident


def first_draw(values: Tensor, event_dims: int) -> Tensor:
    """Values or parameters ``(..., B, event...)`` at the first draw: ``(B, event...)``."""
    extra = values.ndim - event_dims - 1
    return values.flatten(0, extra - 1)[0] if extra > 0 else values
