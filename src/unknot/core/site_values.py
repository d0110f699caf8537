"""The ways to a site's value: another trace's, an observation, a draw, or every value that there is."""

from __future__ import annotations

from typing import Any

import torch
from torch import Size, Tensor
from torch.distributions import Distribution

from unknot.core import best_values, gradients, validation
from unknot.core.axes import extra_event, per_item, prior_event_dims, with_leading
from unknot.core.given_values import FromPrior
from unknot.core.gradients.detached import taught
from unknot.core.inactive import drawable
from unknot.core.node import Node, Variable
from unknot.core.observe import as_value, check_label_shape, check_observed, check_shapes
from unknot.core.partial import Partial
from unknot.core.relaxed import Relaxed
from unknot.core.written import Written
from unknot.errors import TraceError


class SiteValues(Written):
    """Makes the node of a random variable from its distribution and what was given for its value."""

    def __init__(self, samples: int | None = None) -> None:
        super().__init__(samples)
        self._enumerated = 0  # how many sites have been enumerated

    def _reuse(self, name: str, dist: Distribution, source: Node) -> Variable:
        if not isinstance(source, Variable):
            raise TraceError(
                f"site '{name}': value= takes a random variable's node, not a {type(source).__name__}"
            )
        node = Variable(name, dist, source.value, source.known, source.leading_dims, source.event_dims)
        node.gradient, node.unbounded, node.scored_by = source.gradient, source.unbounded, source.scored_by
        node.label, node.reused, node.source = source.label, True, source
        node.active = source.active  # items switched off in q are off in p
        if source.enumerated:
            self._enumerated = max(self._enumerated, source.leading_dims - 2)
        check_shapes(name, dist, node.value, node.leading_dims)
        return node

    def _observe(self, name: str, dist: Distribution, given: Any) -> Variable:
        value = as_value(name, dist, given)
        leading = min(1, value.ndim - len(dist.event_shape))  # 0: one value shared by all items
        if leading < 0:
            raise TraceError(
                f"site '{name}': one value of {type(dist).__name__} has {len(dist.event_shape)} axes, but the "
                f"observed value has shape {tuple(value.shape)}"
            )
        node = Variable(name, dist, value, True, leading, value.ndim - leading)
        check_shapes(name, dist, value, leading)
        if validation.is_on():
            check_observed(name, dist, given, value, True, node.event_dims)
        return node

    def _draw(
        self,
        name: str,
        dist: Distribution,
        given: Partial | FromPrior | None,
        gradient: str,
        event_dims: int | None,
    ) -> Variable:
        if isinstance(given, FromPrior):
            event_dims = prior_event_dims(name, dist, given.batch, event_dims, given.event_dims)
            self._leading = self._leading or Size((given.batch,))
        elif isinstance(given, Partial) and not self._leading:
            self._leading = given.known.shape
        extra = extra_event(name, dist, event_dims, self._leading)  # event axes beyond the distribution's own
        if gradient == "enumerate" and not best_values.wanted():
            return self._enumerate(name, dist, given, extra)
        dist, sample_shape = with_leading(name, dist, extra, self._leading, self.samples)
        event = extra + len(dist.event_shape)
        if best_values.wanted():
            gradient, best = "pathwise", best_values.best_value(dist)
            drawn = gradients.Draw(best.expand(sample_shape + best.shape))
        else:
            source = dist if self._active is None else drawable(dist, self._active, event)
            drawn = gradients.draw(source, gradient, sample_shape, event)
        node = Variable(name, dist, drawn.value, False, drawn.value.ndim - event, event)
        node.gradient, node.unbounded = gradient, drawn.unbounded
        if isinstance(dist, Relaxed) and drawn.unbounded is not None:
            node.scored_by = "density"
        if isinstance(given, Partial):
            label = self._label(name, dist, given, event)
            check_label_shape(name, label, drawn.value, event)
            node.value = torch.where(per_item(given.known, event), label, drawn.value)
            node.known = given.known
        if gradient == "detached":
            node.dist, node.undetached = taught(dist, node.known, event), dist
        return node

    def _enumerate(
        self, name: str, dist: Distribution, given: Partial | FromPrior | None, extra: int
    ) -> Variable:
        if extra:
            raise TraceError(
                f"site '{name}': gradient='enumerate' takes one variable per item, but each item has "
                f"{tuple(dist.batch_shape[-extra:])} of them; make one site for each, in a scope"
            )
        event = len(dist.event_shape)
        support = gradients.draw(dist, "enumerate", Size(), event).value  # (K, event...)
        middle = 1 + self._enumerated  # the axes of earlier enumerated sites, and the samples
        batch = self._leading[-1] if self._leading else (dist.batch_shape[-1] if dist.batch_shape else 1)
        value = support.reshape(support.shape[0], *(1,) * (middle + 1), *support.shape[1:])
        value = value.expand(support.shape[0], *(1,) * middle, batch, *support.shape[1:])
        node = Variable(name, dist, value, False, middle + 2, event)
        node.gradient = "enumerate"
        if isinstance(given, Partial):
            node.label = self._label(name, dist, given, event)
            node.known = given.known
        self._enumerated += 1
        return node

    def _label(self, name: str, dist: Distribution, given: Partial, event: int) -> Tensor:
        label = as_value(name, dist, given.values, given.known)
        if label.ndim != 1 + event:
            raise TraceError(
                f"site '{name}': labels have shape {tuple(given.values.shape)}, but one item's value has "
                f"{event} axes, so (B{', ...' if event else ','}) with {1 + event} axes was expected"
            )
        if validation.is_on():
            check_observed(name, dist, given.values, label, given.known, event)
        return label
