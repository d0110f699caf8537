"""Trace: an ordered, write-once mapping from names to nodes; programs write it, objectives read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Size, Tensor
from torch.distributions import Distribution

from unknot.core import best_values, gradients, validation
from unknot.core.axes import extra_event, merge, per_item, prior_event_dims, with_leading
from unknot.core.finite import all_finite
from unknot.core.given_values import FromPrior
from unknot.core.gradients.detached import taught
from unknot.core.gradients.score_function import ScoreFunction
from unknot.core.inactive import drawable, finite, held
from unknot.core.item_loss import item_loss
from unknot.core.node import LogTerm, Loss, Node, Variable
from unknot.core.observe import as_value, check_label_shape, check_observed, check_shapes
from unknot.core.partial import Partial
from unknot.core.precision import in_full_precision
from unknot.core.relaxed import Relaxed
from unknot.core.replay import replayed
from unknot.core.scope import Scopes, check_name, join
from unknot.core.site_hook import announce
from unknot.core.sites import Sites
from unknot.errors import TraceError
from unknot.suggest import nearest


class Trace(Scopes, Sites):
    """What a probabilistic program did: every site's distribution, value and log-probability, by name.

    Arguments:

    * ``samples``: S gives draws a leading sample axis, ``(S, B, event...)``; networks before the first draw run once,
      not S times. None, the default, draws once and without that axis.

    The site methods (``normal``, ``concrete``, ..., and ``variable`` for any other distribution) take the arguments of
    their distribution, then the same four keywords, and return the site's value, a tensor:

    * ``value``: nothing (draw), a tensor ``(B, event...)`` (observe), a node of another trace (reuse), or
      ``unknot.partial(values, known)`` (observe the known items, draw the others);
    * ``name``: the site's name in the trace, a word; names are written once;
    * ``gradient``: how a draw carries gradient, see :mod:`unknot.core.gradients`; each family has a default;
    * ``event_dims``: how many trailing axes belong to one item, for the rare parameters whose shape does not tell.

    >>> q = Trace()
    >>> z = q.normal(torch.zeros(4, 2), torch.ones(4, 2), name="z")
    >>> z.shape, q["z"].log_prob.shape
    (torch.Size([4, 2]), torch.Size([4]))
    """

    def __init__(self, samples: int | None = None) -> None:
        if samples is not None and samples < 1:
            raise TraceError(f"Trace(samples=...) takes a number of at least 1, but got {samples}")
        super().__init__()
        self.samples = samples
        self._nodes: dict[str, Node] = {}
        self._enumerated = 0  # how many sites have been enumerated

    # ---- reading ------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Any:  # Node; Any lets programs read .dist without a cast
        if name in self._nodes:
            return self._nodes[name]
        near = nearest(name, self._nodes)
        hint = "" if near is None else f"did you mean '{near}'? "
        raise TraceError(
            f"the trace has no site '{name}'; {hint}It has: {', '.join(self._nodes) or 'none yet'}. "
            f"Use trace.get('{name}') if it may be absent."
        )

    def get(self, name: str) -> Any:
        """The node called ``name`` if there is one, else None: ``value=q.get("z")`` reuses z or draws it."""
        return self._nodes.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self._nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def items(self) -> list[tuple[str, Node]]:
        """Names and nodes in the order in which the program made them."""
        return list(self._nodes.items())

    def nodes(self) -> list[Node]:
        """All nodes in the order in which the program made them."""
        return list(self._nodes.values())

    def variables(self) -> list[Variable]:
        """The random variables among the nodes."""
        return [node for node in self._nodes.values() if isinstance(node, Variable)]

    def log_prob(self, *names: str) -> Tensor:
        """Sum of the log-probabilities of the sites called ``names``, or of all: one value per item."""
        chosen = [self[name] for name in names] if names else self.nodes()
        if not chosen:
            return torch.zeros(())
        total = chosen[0].scored()
        for node in chosen[1:]:
            total = total + node.scored()
        if validation.is_on() and not all_finite([total]):
            validation.look_again(chosen)
        return total

    @property
    def leading_shape(self) -> Size:
        """Sizes of the leading axes: ``(B,)``, ``(S, B)`` or ``(K, ..., S, B)``."""
        return self._leading

    def __repr__(self) -> str:
        rows = [f"  {name}: {_describe(node)}" for name, node in self._nodes.items()]
        return "\n".join([f"Trace(samples={self.samples}) with {len(rows)} sites", *rows])

    # ---- composition --------------------------------------------------------------------------------

    def under(self, *prefix: str | int) -> Trace:
        """The sites below ``prefix`` as a trace of their own, for a sub-model: ``q.under("digit", 2)["y"]``.

        ``prefix`` are words and indices as :meth:`scope` takes them; in the part, names go without it.
        """
        start = join("", prefix) + "."
        part = Trace(self.samples)
        for name, node in self._nodes.items():
            if name.startswith(start):
                part._store(name[len(start) :], node.copy(name[len(start) :], None))
        return part

    def include(self, trace: Trace, *prefix: str | int) -> Trace:
        """Take over all sites of ``trace``, a sub-model's, under a prefix and the ``where`` blocks in force.

        ``prefix`` are words and indices as :meth:`scope` takes them. Returns the sub-model's trace, so that its values
        can be read by their own names.
        """
        start = join(self._prefix, prefix)
        for name, node in trace._nodes.items():
            full = f"{start}.{name}" if start else name
            self._refuse_repeat(full)
            self._refuse_shared_axis(full, node)
            self._store(full, node.copy(full, self._active))
        self._enumerated = max(self._enumerated, trace._enumerated)
        return trace

    def keep_where(self, active: Tensor, *prefix: str | int) -> None:
        """Switch sites off that are there already: those below ``prefix`` count only where ``active``.

        For loops whose length is known only at their end, because each turn says whether there is another:

        >>> q, stops, state = Trace(), [], torch.zeros(4, 2)
        >>> for k in range(3):
        ...     stops.append(state.sum(-1))
        ...     with q.scope("look", k):
        ...         state = state + q.normal(state, 1.0, name="place")
        >>> count = q.turns(logits=torch.stack(stops, -1), name="count", gradient="enumerate")  # (4, 1, B)
        >>> for k in range(3):
        ...     q.keep_where(count > k, "look", k)
        >>> q["look[2].place"].log_prob[:3].abs().sum().item()
        0.0

        ``active`` is a mask as :meth:`where` takes it, ``prefix`` are words and indices as of :meth:`scope`. What was
        drawn stays as it is, and passes gradient on: the sites were drawn for all items.
        """
        self._check_mask("keep_where()", active)
        start = join(self._prefix, prefix) + "."
        names = [name for name in self._nodes if name.startswith(start)]
        if not names:
            raise TraceError(
                f"keep_where(): the trace has no site below '{start[:-1]}'; it has: {', '.join(self)}"
            )
        for name in names:
            self._nodes[name] = self._nodes[name].kept_where(active)

    # ---- writing ------------------------------------------------------------------------------------

    def variable(
        self,
        dist: Distribution,
        value: Any = None,
        *,
        name: str,
        gradient: str | ScoreFunction | None = None,
        event_dims: int | None = None,
    ) -> Tensor:
        """A random variable with any ``torch.distributions`` distribution.

        Takes the distribution, ``dist``, and what every site takes (see :class:`Trace`): ``value``, ``name``,
        ``gradient`` and ``event_dims``. Returns the value.

        >>> p = Trace()
        >>> x = p.variable(torch.distributions.Gumbel(torch.zeros(3), 1.0), torch.zeros(3), name="x")
        >>> p["x"].log_prob
        tensor([-1., -1., -1.])
        """
        full = self._full_name(name)
        dist = in_full_precision(dist)
        if validation.is_on() and not validation.parameters_show(dist, isinstance(value, Tensor)):
            self._check_parameters(full, dist)
        baseline = gradient.baseline if isinstance(gradient, ScoreFunction) else None
        way = "score_function" if isinstance(gradient, ScoreFunction) else gradient
        if way is not None:
            gradients.refuse_unfit(full, dist, way)
        if value is None:
            value = replayed(full)
        if isinstance(value, Node):
            node = self._reuse(full, dist, value)
        elif value is None or isinstance(value, FromPrior | Partial):
            node = self._draw(full, dist, value, way or gradients.default(dist), event_dims)
            node.baseline = baseline
            if self._active is not None:
                node.value = finite(node.value, self._active, node.leading_dims)
        else:
            node = self._observe(full, dist, value)
        if self._active is not None:
            node.active = self._active if node.active is None else node.active & self._active
        self._store(full, node)
        announce(self, node)
        return node.value

    def loss(
        self, fn: Callable[[Tensor, Tensor], Tensor], value: Tensor, target: Tensor | None, *, name: str
    ) -> Tensor:
        """A likelihood given as a loss: adds ``-fn(value, target)`` per item.

        Arguments:

        * ``fn``: returns one number per item, or one per element (they are summed over the item);
        * ``value``: the prediction, with any sample axes before the batch;
        * ``target``: the data, ``(B, event...)``; None, as when generating, adds nothing;
        * ``name``: the site's name.

        Returns ``value``.

        >>> p = Trace()
        >>> square = lambda prediction, x: (prediction - x) ** 2
        >>> _ = p.loss(square, torch.zeros(2, 3), torch.ones(2, 3), name="x")
        >>> p["x"].log_prob
        tensor([-3., -3.])
        """
        full = self._full_name(name)
        if target is None:
            leading = max(1, len(self._leading))
            zeros = torch.zeros(value.shape[:leading], dtype=value.dtype, device=value.device)
            node = Loss(full, value, None, zeros, leading)
        else:
            counted = (
                value if self._active is None else held(value, self._active, value.ndim - target.ndim + 1)
            )
            node = Loss(full, value, target, *item_loss(full, fn, counted, target, self._leading))
        node.active = self._active
        self._store(full, node)
        announce(self, node)
        return value

    def log_term(self, log_prob: Tensor, *, name: str) -> Tensor:
        """Add ``log_prob`` to the joint log-probability as it is: one number per item, ``(B,)`` or ``(S, B)``.

        It is a site called ``name``; objectives show it as the term ``log_term[name]``. Returns ``log_prob``.

        >>> p = Trace()
        >>> _ = p.log_term(torch.tensor([0.5, -0.5]), name="bonus")
        >>> p.log_prob()
        tensor([ 0.5000, -0.5000])
        """
        full = self._full_name(name)
        self._check_per_item(f"log_term '{full}'", log_prob)
        node = LogTerm(full, log_prob)
        node.active = self._active
        self._store(full, node)
        announce(self, node)
        return log_prob

    # ---- the three ways to a value ------------------------------------------------------------------

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

    def _check_parameters(self, full: str, dist: Distribution) -> None:
        """Refuse wrong parameters; if an earlier site has them from numbers that are wrong, that one is named."""
        try:
            validation.check_parameters(full, dist)
        except TraceError:
            validation.look_again(self.nodes())
            raise

    # ---- bookkeeping --------------------------------------------------------------------------------

    def _full_name(self, name: str) -> str:
        check_name(name)
        full = f"{self._prefix}.{name}" if self._prefix else name
        self._refuse_repeat(full)
        return full

    def _refuse_repeat(self, full: str) -> None:
        if full in self._nodes:
            raise TraceError(
                f"site '{full}' exists already: a trace is written once. In a loop, put each turn in "
                "`with trace.scope('name', k):`"
            )

    def _refuse_shared_axis(self, full: str, node: Node) -> None:
        """Each enumerated site needs an axis of its own, which two traces do not know of each other."""
        if not (isinstance(node, Variable) and node.enumerated):
            return
        for other in self.variables():
            if other.enumerated and other.leading_dims == node.leading_dims:
                raise TraceError(
                    f"site '{full}' was enumerated in a trace of its own, on the axis that '{other.name}' has "
                    "here; let the sub-model write into this trace, in a scope, or draw the site instead"
                )

    def _store(self, full: str, node: Node) -> None:
        seen, leading = node.leading_shape, self._leading
        shared = min(len(seen), len(leading))
        if seen[len(seen) - shared :] != leading[len(leading) - shared :]:
            self._leading = merge(full, seen, leading)
        elif len(seen) > len(leading):
            self._leading = seen
        self._nodes[full] = node


def _describe(node: Node) -> str:
    kind = type(node.dist).__name__ if isinstance(node, Variable) else type(node).__name__
    state = {True: "observed", False: "drawn"}.get(node.known) if isinstance(node.known, bool) else None
    if state is None and isinstance(node.known, Tensor):
        state = f"{int(node.known.sum())} of {node.known.numel()} items observed"
    return f"{kind} {tuple(node.value.shape)}, {state}"
