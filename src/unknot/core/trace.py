"""Trace: an ordered, write-once mapping from names to nodes; programs write it, objectives read it.

How it is read is in :mod:`unknot.core.written`, how a site comes to its value in :mod:`unknot.core.site_values`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution

from unknot.core import gradients, validation
from unknot.core.given_values import FromPrior
from unknot.core.gradients.score_function import ScoreFunction
from unknot.core.inactive import finite, held
from unknot.core.item_loss import item_loss
from unknot.core.node import LogTerm, Loss, Node, Variable
from unknot.core.partial import Partial
from unknot.core.precision import in_full_precision
from unknot.core.replay import replayed
from unknot.core.scope import join
from unknot.core.site_hook import announce
from unknot.core.site_values import SiteValues
from unknot.core.sites import Sites
from unknot.errors import TraceError


class Trace(SiteValues, Sites):
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
        super().__init__(samples)

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

    def _check_parameters(self, full: str, dist: Distribution) -> None:
        """Refuse wrong parameters; if an earlier site has them from numbers that are wrong, that one is named."""
        try:
            validation.check_parameters(full, dist)
        except TraceError:
            validation.look_again(self.nodes())
            raise
