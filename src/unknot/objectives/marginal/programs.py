"""What traces know of their programs, as options of the decomposition: how to run them again, and who depends on whom.

A trace made by :func:`unknot.trace` knows its program, so an objective needs no further argument. The claim that the
encoder's variables are independent given x, ``independent=True``, is checked against the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from unknot.core import validation
from unknot.core.dependence import site_parents
from unknot.core.evidence import GivenValues, Partial
from unknot.core.trace import Trace
from unknot.core.tracing import Call
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import Given, may_reach


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
