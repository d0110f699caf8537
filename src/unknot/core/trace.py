"""Trace: an ordered, write-once mapping from names to nodes; programs write it, objectives read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Size, Tensor
from torch.distributions import Distribution

from unknot.core import gradients, handlers, validation
from unknot.core.axes import Axes, Layout
from unknot.core.distributions import finite, held, in_full_precision
from unknot.core.draw import draw, element_mask, item_loss, loss_event, observe, reuse
from unknot.core.evidence import FromPrior, Partial
from unknot.core.gradients import ScoreFunction
from unknot.core.node import LogTerm, Loss, Node, Variable
from unknot.core.numerics import all_finite
from unknot.core.sites import Sites
from unknot.errors import TraceError
from unknot.suggest import nearest

if TYPE_CHECKING:
    from unknot.core.tracing import Call

_NUMBERED = re.compile(r"\[\d+\]")


class Trace(Sites):
    """What a probabilistic program did: every site's distribution, value and log-probability, by name.

    The site methods (``normal``, ``concrete``, ..., and ``variable`` for any other distribution) take the arguments of
    their distribution, then the same four keywords, and return the site's value, a tensor:

    * ``value``: nothing (draw), a tensor ``(B, event...)`` (observe), a node of another trace (reuse), or
      ``unknot.partial(...)`` (observe the known items, draw the others given the evidence about them);
    * ``name``: the site's name in the trace, a word; names are written once;
    * ``gradient``: how a draw carries gradient, see :mod:`unknot.core.gradients`; each family has a default;
    * ``event_dims``: how many trailing axes belong to one item, where the shape of the parameters does not tell.

    Parameters
    ----------
    samples : int, optional
        S gives draws a leading sample axis, ``(S, B, event...)``; networks before the first draw run once, not S
        times. By default sites are drawn once and without that axis.

    Attributes
    ----------
    call : Call or None
        The program and its arguments, if it was run by :func:`unknot.trace`.
    inputs : dict from str to Tensor
        What the program was given beside the items, by name, for the programs that read the trace. Inputs have no
        distribution and are no sites.

    Examples
    --------
    >>> q = Trace()
    >>> z = q.normal(torch.zeros(4, 2), torch.ones(4, 2), name="z")
    >>> z.shape, q["z"].log_prob.shape
    (torch.Size([4, 2]), torch.Size([4]))
    """

    def __init__(self, samples: int | None = None) -> None:
        if samples is not None and samples < 1:
            raise TraceError(f"Trace(samples=...) takes a number of at least 1, but got {samples}")
        self.samples = samples
        self.call: Call | None = None
        self.inputs: dict[str, Tensor] = {}
        self._layout = self._new_layout()
        self._nodes: dict[str, Node] = {}
        self._prefix = ""
        self._group: str | None = None  # the prefix without the steps of ``markov`` loops
        self._active: Tensor | None = None

    def _new_layout(self) -> Layout:
        program = handlers.innermost(handlers.learned)
        if not isinstance(program, handlers.learned):
            return Layout(self.samples)
        number = len(program.traces)
        program.traces.append(self)
        if program.sizes is not None and self.samples is not None:
            self.samples = program.sizes.samples
        known = {name: dims for (trace, name), dims in program.event_dims.items() if trace in (number, -1)}
        return Layout(self.samples, known, program.sizes)

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
        total: Tensor = chosen[0].compute_log_prob()
        for node in chosen[1:]:
            total = total + node.compute_log_prob()
        if validation.is_on() and not all_finite([total]):
            validation.check_each(chosen)
        return total

    @property
    def leading_shape(self) -> Size:
        """Sizes of the leading axes: ``(B,)``, ``(S, B)`` or ``(K, ..., S, B)``."""
        return self._layout.shape

    @property
    def axes(self) -> Axes:
        """The axes of the enumerated sites, by slot, as they are now."""
        return self._layout.axes

    def __repr__(self) -> str:
        rows = [f"  {name}: {_describe(node)}" for name, node in self._nodes.items()]
        return "\n".join([f"Trace(samples={self.samples}) with {len(rows)} sites", *rows])

    # ---- scopes, masks and loops --------------------------------------------------------------------

    @contextmanager
    def scope(self, *parts: str | int) -> Iterator[None]:
        """Prefix the names of the sites created inside: ``with trace.scope("digit", k): ...``

        ``parts`` are words and indices: ``scope("digit", 2)`` makes ``digit[2].y`` of ``y``. Blocks nest.
        """
        before, group = self._prefix, self._group
        self._prefix = join(before, parts)
        self._group = None if group is None else join(group, parts)
        try:
            yield
        finally:
            self._prefix, self._group = before, group

    @contextmanager
    def where(self, active: Tensor) -> Iterator[None]:
        """Switch items off: sites inside count, for items where ``active`` is false, exactly zero.

        ``active`` is a boolean mask over leading axes, ``(B,)`` or ``(S, B)`` or, if it comes from an
        enumerated site, ``(K, S, B)``. Blocks nest.
        """
        self._check_mask("where()", active)
        before = self._active
        self._active = active if before is None else before & active
        try:
            yield
        finally:
            self._active = before

    def markov(
        self,
        steps: Iterable[int],
        name: str = "step",
        *,
        history: int = 1,
        lengths: Tensor | None = None,
    ) -> Iterator[int]:
        """Loop over the steps of a sequence, in a scope of their own: sites inside are called ``step[t].y``.

        Enumerated sites use the axes of earlier steps again, so that a chain of any length has a fixed number of
        axes and is summed at a cost of K² per step. Objectives add up the terms of all steps under one name,
        ``kl[step.y]``.

        Parameters
        ----------
        steps : iterable of int
            ``range(T)``.
        name : str, default="step"
            The scope.
        history : int, default=1
            How many steps back a step may look: values of enumerated sites that are older must not be used.
            :func:`unknot.trace` checks it.
        lengths : Tensor of int, optional
            The number of steps of each item, ``(B,)``. Later steps are switched off as by :meth:`where`.

        Yields
        ------
        int
            The step.

        Examples
        --------
        >>> q, stay = Trace(), torch.eye(3) * 2
        >>> state = q.categorical(logits=torch.zeros(4, 3), gradient="enumerate", name="start")
        >>> for t in q.markov(range(100)):
        ...     state = q.categorical(logits=stay[state], gradient="enumerate", name="state")
        >>> len(q), q["step[99].state"].log_prob.ndim
        (101, 5)
        """
        if history < 0:
            raise TraceError(f"markov(): history is a number of steps, at least 0, but got {history}")
        before = set(self._layout.axes)
        past: list[set[int]] = []  # the slots of the last steps, latest last
        prefix, group = self._prefix, self._group
        for step in steps:
            if len(past) > history:
                self._layout.release(past.pop(0))
            held_slots = set(self._layout.axes)
            outer = self._active
            self._prefix, self._group = join(prefix, [name, step]), join(group or prefix, [name])
            if lengths is not None:
                alive = lengths > step
                self._active = alive if outer is None else outer & alive
            try:
                yield step
            finally:
                self._prefix, self._group, self._active = prefix, group, outer
            past.append(set(self._layout.axes) - held_slots - before)

    def keep_where(self, active: Tensor, *prefix: str | int) -> None:
        """Switch off sites that exist already: those below ``prefix`` count only where ``active``.

        For loops whose length is known only at their end, because each turn says whether there is another. What was
        drawn stays as it is, and passes gradient on: the sites were drawn for all items.

        Parameters
        ----------
        active : Tensor of bool
            A mask as :meth:`where` takes it.
        *prefix : str or int
            Words and indices as :meth:`scope` takes them.

        Examples
        --------
        >>> q, stops, state = Trace(), [], torch.zeros(4, 2)
        >>> for k in range(3):
        ...     stops.append(state.sum(-1))
        ...     with q.scope("look", k):
        ...         state = state + q.normal(state, 1.0, name="place")
        >>> logits = torch.stack(stops, -1)
        >>> count = q.stick_breaking_count(logits=logits, name="count", gradient="enumerate")  # (4, 1, 1)
        >>> for k in range(3):
        ...     q.keep_where(count > k, "look", k)
        >>> q["look[2].place"].log_prob[:3].abs().sum().item()
        0.0
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
            self._nodes[name].axes = {**self._nodes[name].axes, **self._layout.axes}

    # ---- composition --------------------------------------------------------------------------------

    def under(self, *prefix: str | int) -> Trace:
        """The sites below ``prefix`` as a trace of their own, for a sub-model: ``q.under("digit", 2)["y"]``.

        ``prefix`` are words and indices as :meth:`scope` takes them; in the part, names go without it.
        """
        start = join("", prefix) + "."
        part = Trace(self.samples)
        for name, node in self._nodes.items():
            if name.startswith(start):
                part._store(name[len(start) :], node.renamed(name[len(start) :]))
        return part

    def include(self, trace: Trace, *prefix: str | int) -> Trace:
        """Take over all sites of ``trace``, a sub-model's, under a prefix and the ``where`` blocks in force.

        ``prefix`` are words and indices as :meth:`scope` takes them. Returns the sub-model's trace, so that its values
        can be read by their own names.
        """
        start = join(self._prefix, prefix)
        self._refuse_guessed_batch(trace, start)
        for name, node in trace._nodes.items():
            full = f"{start}.{name}" if start else name
            self._refuse_repeat(full)
            self._refuse_shared_axis(full, node)
            twin = node.renamed(full, self._active)
            twin.axes = {**self._layout.axes, **node.axes}  # the mask may have axes of this trace
            self._store(full, twin)
        for axis in trace._layout.axes.values():
            self._layout.own(axis)
        return trace

    def _refuse_guessed_batch(self, trace: Trace, start: str) -> None:
        """A sub-model that was run on draws takes their first axis for the batch if it is told nothing else."""
        if trace._layout.guessed and trace._layout.batch in self.leading_shape[:-1]:
            first = next(iter(trace._nodes), "")
            raise TraceError(
                f"site '{join(start, [first])}': its trace took the first axis of its parameters for the batch, but "
                f"here, beside leading axes {tuple(self.leading_shape)}, it could be another; say event_dims at the "
                "site, or run the whole program by unknot.trace(program, ...), which learns it"
            )

    def _refuse_shared_axis(self, full: str, node: Node) -> None:
        """Each enumerated site needs an axis of its own, which two traces do not know of each other."""
        if not (isinstance(node, Variable) and node.enumerated):
            return
        for other in self.variables():
            if other.enumerated and other.leading_dims == node.leading_dims and other.axis is not node.axis:
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

        Parameters
        ----------
        dist : Distribution
            Its distribution.
        value, name, gradient, event_dims
            What every site takes, see :class:`Trace`.

        Returns
        -------
        Tensor
            The value.

        Examples
        --------
        >>> p = Trace()
        >>> x = p.variable(torch.distributions.Gumbel(torch.zeros(3), 1.0), torch.zeros(3), name="x")
        >>> p["x"].log_prob
        tensor([-1., -1., -1.])
        """
        full = self._full_name(name)
        dist = in_full_precision(dist)
        if validation.is_on() and not validation.parameters_show(dist, isinstance(value, Tensor)):
            self._check_parameters(full, dist)
        if not handlers.watched():
            return self._record(full, self._make(full, dist, value, gradient, event_dims)).value
        message = handlers.announce(handlers.Message(self, full, dist, value, event_dims))
        node = self._make(
            full, dist, message.value, gradient, message.event_dims, message.mask, message.use_mode
        )
        node.scale, node.intervened = message.scale, not message.scored
        handlers.made(self, node)
        return self._record(full, node).value

    def _make(
        self,
        full: str,
        dist: Distribution,
        value: Any,
        gradient: str | ScoreFunction | None,
        event_dims: int | None,
        mask: Tensor | None = None,
        use_mode: bool = False,
    ) -> Variable:
        """The node of a random variable, from its distribution and what was given for its value."""
        baseline = gradient.baseline if isinstance(gradient, ScoreFunction) else None
        way = "score_function" if isinstance(gradient, ScoreFunction) else gradient
        if way is not None:
            gradients.refuse_unfit(full, dist, way)
        if isinstance(value, Node):
            node = reuse(full, dist, value, self._layout)
        elif value is None or isinstance(value, FromPrior | Partial):
            way = way or gradients.default(dist)
            node = draw(full, dist, value, way, event_dims, self._layout, self._active, use_mode)
            node.baseline = baseline
            if self._active is not None:
                node.value = finite(node.value, self._active, node.leading_dims)
        else:
            node = observe(full, dist, value, event_dims, self._layout, self._active, mask)
        if mask is not None and node.mask is None:
            if node.evidence is not None:
                raise TraceError(f"site '{full}': a mask leaves out values, and takes no evidence about them")
            node.mask = element_mask(full, mask, node)
        if self._active is not None:
            node.active = self._active if node.active is None else node.active & self._active
        if self._group is not None and node.group is None:
            node.group = f"{self._group}.{full.removeprefix(self._prefix + '.')}"
        return node

    def _record(self, full: str, node: Variable) -> Variable:
        self._store(full, node)
        axes = self._layout.axes
        node.axes = axes if node.source is None else {**node.source.axes, **axes}
        return node

    def shared(
        self,
        dist: Distribution,
        value: Any = None,
        *,
        dataset_size: int,
        name: str,
        gradient: str | ScoreFunction | None = None,
    ) -> Tensor:
        """A global latent variable: one value for all items, whose log-probability counts once per data set.

        Parameters
        ----------
        dist : Distribution
            One value's distribution, without a batch axis. Its batch shape is the shape of the value.
        value : Node, Tensor or None
            A node of another trace, a value ``(event...)``, or nothing (draw).
        dataset_size : int
            N: each item carries the share 1/N of the log-probability, so that the mean over items of an objective is
            the mean of the data's terms plus 1/N of this one.
        name, gradient
            What every site takes, see :class:`Trace`.

        Returns
        -------
        Tensor
            The value, ``(1, event...)`` or ``(S, 1, event...)``: its batch axis has size one.

        Examples
        --------
        >>> q = Trace()
        >>> w = q.shared(torch.distributions.Normal(torch.zeros(3), 1.0), dataset_size=1000, name="w")
        >>> w.shape
        torch.Size([1, 3])
        """
        event_dims = len(dist.batch_shape) + len(dist.event_shape)
        full = self._full_name(name)
        if isinstance(value, Tensor):
            value = value.expand(1, *value.shape)
        if gradient == "enumerate":
            raise TraceError(f"site '{full}': a shared variable is drawn, not enumerated")
        layout, self._layout = self._layout, Layout(self.samples)
        self._layout.base = Size((1,))
        try:
            node = self._make(full, dist.expand((1, *dist.batch_shape)), value, gradient, event_dims)
        finally:
            self._layout = layout
        node.shared_by = dataset_size
        if handlers.watched():
            handlers.made(self, node)
        return self._record(full, node).value

    def loss(
        self,
        fn: Callable[[Tensor, Tensor], Tensor],
        value: Tensor,
        target: Tensor | Partial | None,
        *,
        name: str,
        event_dims: int | None = None,
    ) -> Tensor:
        """A likelihood given as a loss: adds ``-fn(value, target)`` per item.

        Parameters
        ----------
        fn : callable
            Returns one number per item, or one per element (they are summed over the item).
        value : Tensor
            The prediction, with any sample axes before the batch.
        target : Tensor, Partial or None
            The data, ``(B, event...)``; None, as when generating, adds nothing, and neither do the unknown items of a
            partial observation.
        name : str
            The site's name.
        event_dims : int, optional
            How many trailing axes of the prediction belong to one item, where the shape does not tell: as many as of
            the target, or one more if the target holds class indices.

        Returns
        -------
        Tensor
            ``value``.

        Examples
        --------
        >>> p = Trace()
        >>> square = lambda prediction, x: (prediction - x) ** 2
        >>> _ = p.loss(square, torch.zeros(2, 3), torch.ones(2, 3), name="x")
        >>> p["x"].log_prob
        tensor([-3., -3.])
        """
        full = self._full_name(name)
        active = self._active
        if isinstance(target, Partial):
            if target.evidence is not None:
                raise TraceError(
                    f"site '{full}': a loss takes values, unknot.partial(values, known), and no evidence about them; "
                    "use a site with a distribution, such as normal or categorical"
                )
            known = target.known
            active = known if active is None else active & known
            keep = known.reshape(known.shape + (1,) * (target.values.ndim - 1))
            target = torch.where(keep, target.values, torch.zeros_like(target.values))
        if target is None:
            leading = max(1, len(self.leading_shape))
            zeros = torch.zeros(value.shape[:leading], dtype=value.dtype, device=value.device)
            node = Loss(full, value, None, zeros, leading)
        else:
            event_dims = loss_event(full, value, target, self._layout, event_dims)
            counted = value if active is None else held(value, active, value.ndim - event_dims)
            node = Loss(full, value, target, *item_loss(full, fn, counted, target, event_dims), event_dims)
        return self._add(full, node, active).value

    def log_term(self, log_prob: Tensor, *, name: str) -> Tensor:
        """Add ``log_prob`` to the joint log-probability as it is: one number per item, ``(B,)`` or ``(S, B)``.

        It is a site called ``name``; objectives show it as the term ``log_term[name]``. Returns ``log_prob``.

        >>> p = Trace()
        >>> _ = p.log_term(torch.tensor([0.5, -0.5]), name="bonus")
        >>> p.log_prob()
        tensor([ 0.5000, -0.5000])
        """
        full = self._full_name(name)
        self._check_per_item(f"site '{full}': a log_term", log_prob)
        self._add(full, LogTerm(full, log_prob), self._active)
        return log_prob

    def _add(self, full: str, node: Node, active: Tensor | None) -> Node:
        """Store a node that is not a random variable."""
        node.active = active
        if self._group is not None:
            node.group = f"{self._group}.{full.removeprefix(self._prefix + '.')}"
        if handlers.watched():
            message = handlers.Message(self, full, None, None, None)
            node.scale = handlers.announce(message).scale
        self._store(full, node)
        node.axes = self._layout.axes
        if handlers.watched():
            handlers.made(self, node)
        return node

    def _check_parameters(self, full: str, dist: Distribution) -> None:
        """Refuse wrong parameters; if an earlier site has them from numbers that are wrong, that one is named."""
        try:
            validation.check_parameters(full, dist)
        except TraceError:
            validation.check_each(self.nodes())
            raise

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

    def _store(self, full: str, node: Node) -> None:
        has_batch = True
        if isinstance(node, Variable):  # drawn from parameters with axes of their own, here or in q
            drawn = node if node.source is None else node.source
            has_batch = len(drawn.dist.batch_shape) > drawn.event_dims - len(drawn.dist.event_shape)
        has_items = node.known is not False and node.leading_dims > 0
        leading = node.leading_shape
        if isinstance(node, Variable) and node.axis is not None:
            leading = leading[:-1] + Size((node.axis.items,))
            self._layout.shared = True
        self._layout.admit(full, leading, has_items, has_batch)
        self._nodes[full] = node

    def _check_mask(self, method: str, active: Tensor) -> None:
        kind = active.dtype if isinstance(active, Tensor) else type(active).__name__
        if kind != torch.bool:
            raise TraceError(
                f"{method} takes a mask of booleans, a tensor, but got {kind}; write `k < count`"
            )
        # a mask may be the first to say how many items there are, after sites whose batch axis has size one
        if active.ndim > 0 and self.leading_shape[-1:] == (1,) and not self._layout.has_items:
            active = active[..., :1]
        self._check_per_item(f"the mask of {method}", active)

    def _check_per_item(self, what: str, given: Tensor) -> None:
        leading = self.leading_shape
        if not leading or given.ndim == 0:
            return
        batch = given.shape[-1]
        is_open = leading[-1] == 1 and not self._layout.has_items
        is_open = is_open and (bool(self._layout.known) or not self._layout.has_batch)
        fits = is_open or batch in (1, leading[-1])
        samples = given.shape[-2] if given.ndim > 1 else 1
        # (B, 1) in a trace without samples: a forgotten squeeze
        crosses = (
            batch == 1 != leading[-1] and given.ndim > len(leading) and samples > 1 and not self._layout.known
        )
        if not fits or crosses or (len(leading) > 1 and samples not in (1, leading[-2])):
            raise TraceError(
                f"{what} of shape {tuple(given.shape)} does not fit leading axes {tuple(leading)}; expected one entry "
                f"per item, of which there are {leading[-1]}"
            )


def join(prefix: str, parts: Sequence[str | int]) -> str:
    """Append to a prefix: words with a dot, indices in brackets.

    >>> join("", ["digit", 2])
    'digit[2]'
    >>> join("digit[2]", ["style"])
    'digit[2].style'
    """
    for part in parts:
        if isinstance(part, int):
            if not prefix:
                raise TraceError(f"a scope starts with a name, not with the index {part}")
            prefix = f"{prefix}[{part}]"
        else:
            prefix = f"{prefix}.{part}" if prefix else part
    return prefix


def check_name(name: str) -> None:
    """Refuse names that would read as a numbered scope; anything else that a column may be called is fine."""
    if not isinstance(name, str) or not name or _NUMBERED.search(name):
        raise TraceError(
            f"a site's name is a text without an index in brackets, but got {name!r}; "
            "for names like digit[2].style use `with trace.scope('digit', 2):`"
        )


def _describe(node: Node) -> str:
    kind = type(node.dist).__name__ if isinstance(node, Variable) else type(node).__name__
    state = {True: "observed", False: "drawn"}.get(node.known) if isinstance(node.known, bool) else None
    if state is None and isinstance(node.known, Tensor):
        state = f"{int(node.known.sum())} of {node.known.numel()} items observed"
        if isinstance(node, Variable) and node.evidence is not None:
            state += f", {int(node.evidence.informed.sum())} with evidence"
    return f"{kind} {tuple(node.value.shape)}, {state}"
