"""Which variables an encoder conditions each of its variables on, found from the trace.

Estimates of q(z) mix over items c at the values of draw b. If z's parameters were computed from y, they must
be those at (x_c, y_b), not those at (x_c, y_c) that the trace holds (REFERENCE: the shortcut biases the
marginals). So a dependence must be found, never passed over:

* **autograd**: a path from z's parameters back to the value of y, not through another variable's value;
* **axes**: parameters with an axis of samples or of enumerated values can only have it from a draw, and
  parameters without it cannot depend on a draw that has it;
* **blind spots**: a value that carries no gradient (a label known for every item, a score-function draw
  without samples axis) leaves no path. Such a site counts as a *possible* parent of all later ones until the
  caller states ``parents``.

Under ``torch.no_grad`` and ``torch.compile`` nothing can be walked, and with ``unknot.validation(False)``
nothing is: only axes speak then, and an ``encoder`` to run again. The same call with gradients, as in training,
makes the full check; or state ``parents``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution, Transform

from unknot.core import validation
from unknot.core.gradients import enumeration
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.errors import SpecError

Parents = Mapping[str, Sequence[str]]


def encoder_parents(q: Trace, stated: Parents | None = None, can_rerun: bool = False) -> dict[str, list[str]]:
    """Direct parents among q's variables, for each variable, in the order of the trace.

    ``stated`` is taken at its word for blind spots, and checked against what can be seen: a dependence that
    is there but not stated is refused. With ``can_rerun`` (the encoder is at hand) every discrete site counts
    as a possible parent where nothing can be walked: the result is right either way.
    """
    variables = q.variables()
    _check_names(stated, [node.name for node in variables])
    walk = validation.is_on() and torch.is_grad_enabled()
    found: dict[str, list[str]] = {}
    for position, node in enumerate(variables):
        earlier = [one for one in variables[:position] if _may_reach(one, node)]
        seen = reached(tensors_behind(node.dist), earlier) if walk else []
        if stated is None:
            suspect = _is_blind if walk else _is_discrete
            blind = [one.name for one in earlier if (walk or can_rerun) and suspect(one)]
            enumerated = [one.name for one in earlier if one.enumerated]
            chosen = {*seen, *blind, *enumerated}
        else:
            chosen = set(stated.get(node.name, ()))
            _refuse_unstated(node.name, [name for name in seen if name not in chosen])
        found[node.name] = [one.name for one in variables[:position] if one.name in chosen]
    return found


def reached(tensors: Sequence[Tensor], candidates: Sequence[Variable]) -> list[str]:
    """Names of the candidates whose values these tensors were computed from, not by way of another's value."""
    targets: dict[Any, str] = {}
    leaves: dict[int, str] = {}
    for node in candidates:
        for value in (node.value, node.unbounded):
            if value is None or not value.requires_grad:
                continue
            if value.grad_fn is not None:
                targets[value.grad_fn] = node.name
            else:
                leaves[id(value)] = node.name
    if not targets and not leaves:
        return []
    hits = {
        targets.get(fn) or leaves.get(id(getattr(fn, "variable", None))) for fn in _walk(tensors, targets)
    }
    return [node.name for node in candidates if node.name in hits]


def tensors_behind(dist: Distribution) -> list[Tensor]:
    """Every tensor that a distribution holds, in its parts too: a mixture's components, a flow's transforms."""
    found: list[Tensor] = []
    stack: list[object] = [dist]
    met = {id(dist)}  # a transform and its inverse hold each other
    while stack:
        for value in vars(stack.pop()).values():
            for one in value if isinstance(value, list | tuple) else [value]:
                if isinstance(one, Tensor):
                    found.append(one)
                elif isinstance(one, Distribution | Transform) and id(one) not in met:
                    met.add(id(one))
                    stack.append(one)
    return found


def _walk(tensors: Sequence[Tensor], stop: Mapping[Any, str]) -> Iterator[Any]:
    """All autograd nodes behind ``tensors``, not looking behind those in ``stop``."""
    stack = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
    met = set(stack)
    while stack:
        fn = stack.pop()
        yield fn
        if fn in stop:
            continue
        for before, _ in fn.next_functions:
            if before is not None and before not in met:
                met.add(before)
                stack.append(before)


def _may_reach(parent: Variable, child: Variable) -> bool:
    """False where axes rule a dependence out: the parent's draws have an axis the child's parameters lack."""
    needed = parent.value.shape[: parent.leading_dims - 1]
    own = own_leading(child)
    return all(
        size == 1 or (len(own) > place and own[-1 - place] == size)
        for place, size in enumerate(reversed(needed), start=1)
    )


def own_leading(node: Variable) -> torch.Size:
    """The leading axes that a variable's *parameters* have: ``()``, ``(B,)``, ``(S, B)``, ``(K, 1, B)``."""
    shape = node.dist.batch_shape
    return shape[: max(0, len(shape) - (node.event_dims - len(node.dist.event_shape)))]


def _is_blind(node: Variable) -> bool:
    return not node.enumerated and not node.value.requires_grad


def _is_discrete(node: Variable) -> bool:
    return enumeration.is_finite(node.dist)


def _check_names(stated: Parents | None, names: Sequence[str]) -> None:
    for child, those in (stated or {}).items():
        for name in (child, *those):
            if name not in names:
                raise SpecError(
                    f"parents: '{name}' is not a variable of the encoder; it has {', '.join(names)}"
                )
        late = [name for name in those if names.index(name) >= names.index(child)]
        if late:
            raise SpecError(f"parents: '{child}' cannot depend on {late}, which the encoder makes no earlier")


def _refuse_unstated(child: str, unstated: Sequence[str]) -> None:
    if unstated:
        raise SpecError(
            f"parents: '{child}' was computed from {', '.join(unstated)}, which parents= leaves out; "
            f"add parents={{'{child}': {list(unstated)!r}, ...}}, or let parents be found (leave it None)"
        )
