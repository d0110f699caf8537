"""Which variables an encoder conditions each of its variables on.

Estimates of q(z) mix over items c at the values of draw b. If z's parameters were computed from y, they must
be those at (x_c, y_b), not those at (x_c, y_c) that the trace holds (the shortcut biases the
marginals). So a dependence must be found, never passed over. In this order:

* **stated**: ``parents=``, most easily from :func:`~unknot.core.dependence.site_parents`, which reads
  it from the program once. The same in every mode, compiled or not;
* **the program**: with ``encoder=`` the same is read here, from one more run;
* **the trace alone** tells of axes only: parameters without an axis of samples or of enumerated values do not come
  from a draw that has it. Paths of gradients prove nothing: ``f(y.argmax(-1))``, ``y.detach()`` and all under
  ``torch.no_grad`` have none. So every earlier site counts as a *possible* parent, with gradients as without: a
  marginal is computed as if it were one, where enumerated values are in the trace, and else refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from unknot.core import validation
from unknot.core.dependence import site_parents, tensors_of
from unknot.core.evidence import GivenValues, Partial
from unknot.core.node import Variable
from unknot.core.trace import Trace
from unknot.core.tracing import Call
from unknot.errors import SpecError

# What traces know of their programs, as options of the decomposition: how to run them again, and who depends on whom.
# A trace made by :func:`unknot.trace` knows its program, so an objective needs no further argument. The claim that the
# encoder's variables are independent given x, ``independent=True``, is checked against the program.


def with_programs(q: Trace, p: Trace | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the options of a decomposition from the programs of its traces."""
    found = dict(options)
    independent = found.pop("independent", False)
    if found.get("parents") == {} and len(q.variables()) > 1:
        raise SpecError(
            "parents: an empty mapping says nothing; claim independent=True, which is checked against the program, or "
            "take parents=unknot.objectives.site_parents(encoder, x)"
        )
    if q.call is not None and found.get("parents") is not None and validation.is_on():
        _refuse_false_parents(found["parents"], _variables(q, q.call.parents()))
    if q.call is not None and found.get("parents") is None and found.get("encoder") is None:
        found |= {"encoder": _encoder(q.call), "parents": _variables(q, q.call.parents())}
    if independent:
        found["parents"] = _checked_independence(q, found)
    if (
        p is not None
        and p.call is not None
        and found.get("prior") is None
        and found.get("prior_parents") is None
    ):
        found |= {"prior": _prior(p.call), "prior_parents": _variables(q, p.call.parents())}
    return found


def _encoder(call: Call) -> Any:
    def run(given: Given) -> Trace:
        return call.again({name: value for name, value in given.items() if value is not None})

    return run


def _prior(call: Call) -> Any:
    """The generative program without data: ``decoder(None, given)``."""

    def run(given: GivenValues) -> Trace:
        def without_data(value: Any) -> Any:
            if isinstance(value, Trace | GivenValues):
                return given
            return None if isinstance(value, Tensor | Partial) else value

        args = [without_data(value) for value in call.args]
        kwargs = {name: without_data(value) for name, value in call.kwargs.items()}
        try:
            return call.traces(call.program(*args, **kwargs))[call.position]
        except (TypeError, AttributeError) as error:
            raise SpecError(
                "the prior's variables depend on each other, and the decoder does not run without data: let "
                f"decoder(None, given) generate, or pass prior=lambda given: ... ({error})"
            ) from error

    return run


def _variables(q: Trace, parents: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The parents among the variables of q, for each of them."""
    names = [node.name for node in q.variables()]
    return {name: [one for one in parents.get(name, []) if one in names] for name in names}


def _refuse_false_parents(stated: Mapping[str, Any], parents: Mapping[str, list[str]]) -> None:
    """Refuse ``parents=`` that leaves out a dependence of the program, whose trace is at hand."""
    for name, direct in parents.items():
        if left_out := [one for one in direct if one not in stated.get(name, ())]:
            raise SpecError(
                f"parents: '{name}' depends on {', '.join(left_out)} in the encoder, which parents= leaves out; leave "
                "parents out, the trace knows its program"
            )


def _checked_independence(q: Trace, options: Mapping[str, Any]) -> dict[str, list[str]]:
    """No parents for any variable, if the program shows that there are none."""
    names = [node.name for node in q.variables()]
    claim: dict[str, list[str]] = {name: [] for name in names}
    if not validation.is_on() and not torch.compiler.is_compiling():
        return claim
    parents = options.get("parents")
    if parents is None and options.get("encoder") is not None:
        parents = site_parents(options["encoder"], Given())
    if parents is None:
        variables = q.variables()
        unsure = [
            (one.name, node.name)
            for place, node in enumerate(variables)
            for one in variables[:place]
            if may_reach(one, node)
        ]
        if unsure:
            first, second = unsure[0]
            raise SpecError(
                f"independent=True: a trace alone does not show whether '{second}' depends on '{first}' in the "
                "encoder; make it by q = unknot.trace(encoder, x), which knows its program, or pass "
                "parents=unknot.objectives.site_parents(encoder, x)"
            )
        return claim
    for name in names:
        if parents.get(name):
            raise SpecError(
                f"independent=True: '{name}' depends on {', '.join(parents[name])} in the encoder; leave the claim out"
            )
    return claim


Parents = Mapping[str, Sequence[str]]


class Given(dict[str, Tensor | Variable | None]):
    """Values by site for an encoder that is run again; a site that is not given has None, and is drawn.

    Several runs at once are given as nodes, whose values have an axis of samples before the batch.
    """

    def __missing__(self, name: str) -> None:
        return None


Encoder = Callable[[Given], Trace]


def encoder_parents(
    q: Trace, stated: Parents | None = None, encoder: Encoder | None = None
) -> dict[str, list[str]]:
    """Direct parents among q's variables, for each variable, in the order of the trace.

    ``stated`` is taken at its word for what cannot be seen, and checked against what can: where a path of gradients
    shows a dependence that is not stated, it is refused. With ``unknot.validation(False)`` it is not checked.
    """
    variables = q.variables()
    names = [node.name for node in variables]
    _check_names(stated, names)
    if stated is None and encoder is not None and not torch.compiler.is_compiling():
        return _of_program(encoder, names)
    found: dict[str, list[str]] = {}
    for position, node in enumerate(variables):
        earlier = [one for one in variables[:position] if may_reach(one, node)]
        if stated is None:
            chosen = {one.name for one in earlier}
        else:
            chosen = set(stated.get(node.name, ()))
            seen = reached(tensors_of(node.plain), earlier) if validation.is_on() else []
            _refuse_unstated(node.name, [name for name in seen if name not in chosen])
        found[node.name] = [one.name for one in variables[:position] if one.name in chosen]
    return found


def _of_program(encoder: Encoder, names: Sequence[str]) -> dict[str, list[str]]:
    found = site_parents(encoder, Given())
    if missing := [name for name in names if name not in found]:
        raise SpecError(
            f"encoder=: the trace it returned has no site {missing}; it has {list(found)}. It runs the same program on "
            "the same inputs: encoder=lambda given: net(x, y_values=given['y'])"
        )
    return {name: [one for one in found[name] if one in names] for name in names}


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


def may_reach(parent: Variable, child: Variable) -> bool:
    """False where axes rule a dependence out: the parent's draws have an axis the child's parameters lack."""
    needed = parent.value.shape[: parent.leading_dims - 1]
    own = own_leading(child)
    return all(
        size == 1 or (len(own) > place and own[-1 - place] == size)
        for place, size in enumerate(reversed(needed), start=1)
    )


def own_leading(node: Variable) -> torch.Size:
    """The leading axes that a variable's *parameters* have: ``()``, ``(B,)``, ``(S, B)``, ``(K, 1, B)``."""
    shape = node.plain.batch_shape
    return shape[: max(0, len(shape) - (node.event_dims - len(node.plain.event_shape)))]


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
