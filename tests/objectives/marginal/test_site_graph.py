"""Ancestors of sets: what is summed out, what keeps the row's value, what is conditioned on."""

import torch

import unknot
from unknot.objectives.marginal.site_graph import SiteGraph


def graph() -> SiteGraph:
    """a -> b -> d, a -> c, e alone."""
    q = unknot.Trace()
    for name in "abcde":
        q.normal(torch.zeros(2, 1), 1.0, name=name)
    return SiteGraph(
        {node.name: node for node in q.variables()}, {"a": [], "b": ["a"], "c": ["a"], "d": ["b"], "e": []}
    )


def test_ancestors_come_in_the_programs_order():
    assert graph().ancestors(["d"]) == ["a", "b", "d"]
    assert graph().ancestors(["e", "c"]) == ["a", "c", "e"]


def test_outside_and_inside_share_the_parents():
    assert graph().outside(["d", "b"]) == ["a"]
    assert graph().inside(["d", "b"]) == ["b"]
    assert graph().inside(["b", "c"]) == []
    assert graph().outside(["e"]) == []


def test_conditions_are_all_that_is_depended_on():
    assert graph().conditions(["d"]) == ["a", "b"]
    assert graph().conditions(["a", "e"]) == []
