"""Exact sums over finite ancestors, on a chain that can be written out. Random programs: tests/conformance."""

import torch

import unknot
from unknot.objectives.marginal.finite_parents import (
    FiniteParents,
    combinations,
    count_values,
    enumerated_table,
)
from unknot.objectives.marginal.site_graph import SiteGraph
from unknot.objectives.marginal.weights import naive

B = 3
double = torch.float64


def chain() -> tuple[unknot.Trace, FiniteParents]:
    """a (2) -> b (3), both enumerated."""
    weight = torch.randn(B, 2, 3, dtype=double)
    q = unknot.Trace()
    a = q.one_hot_categorical(logits=torch.randn(B, 2, dtype=double), name="a", gradient="enumerate")
    q.one_hot_categorical(logits=torch.einsum("...bi,bij->...bj", a, weight), name="b", gradient="enumerate")
    table = enumerated_table(q["b"], [q["a"]], B)
    assert table is not None
    graph = SiteGraph({node.name: node for node in q.variables()}, {"a": [], "b": ["a"]})
    return q, FiniteParents(graph, {"a": q["a"].dist, "b": table}, naive(B, B))


def test_a_set_sums_out_what_is_not_in_it():
    q, finite = chain()
    first = q["a"].dist.probs  # (C, 2)
    second = finite.tables["b"].probs  # (2, C, 3)
    both = first.T[..., None] * second  # (2, C, 3)
    joint = finite.matrix(["a", "b"])  # rows (3, 2, 1, 1), columns C: items share the values
    torch.testing.assert_close(joint.exp(), both.permute(2, 0, 1)[:, :, None, None])
    alone = finite.matrix(["b"])
    torch.testing.assert_close(alone.exp(), both.sum(0).T[:, None, None, None])


def test_components_weigh_the_parents_values():
    q, finite = chain()
    found = finite.components("b")
    weights = torch.stack([mass.exp() for _, mass in found if mass is not None])
    torch.testing.assert_close(weights, q["a"].dist.probs.T)
    assert finite.components("a") == [(q["a"].dist, None)]


def test_every_combination_is_counted():
    q, _ = chain()
    nodes = [q["a"], q["b"]]
    assert count_values(nodes) == len(list(combinations(nodes))) == 6
    assert list(combinations([])) == [{}]
