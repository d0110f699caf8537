"""Items in layers: parents above children, stand-ins where an edge passes through, and few crossings."""

from __future__ import annotations

from itertools import pairwise

from unknot.graph.layout import STAND_IN, layers, neighbors, order


def test_items_stand_below_all_their_parents() -> None:
    found = layers(list("abcx"), [("a", "b"), ("b", "x"), ("a", "x"), ("c", "x")])
    depth = {name: d for d, layer in enumerate(found.layers) for name in layer}
    assert (depth["a"], depth["b"], depth["x"]) == (0, 1, 2)
    assert depth["c"] == 1  # a root moves down to just above its child


def test_an_edge_over_several_layers_has_a_stand_in_in_each() -> None:
    found = layers(list("abcd"), [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    stand_ins = [[name for name in layer if name.startswith(STAND_IN)] for layer in found.layers]
    assert [len(layer) for layer in stand_ins] == [0, 1, 1, 0]
    depth = {name: d for d, layer in enumerate(found.layers) for name in layer}
    assert all(depth[b] - depth[a] == 1 for a, b in found.links)
    near = neighbors(found)
    assert set(near["a"]) == {"b", stand_ins[1][0]}
    assert all(b in near[a] and a in near[b] for a, b in pairwise(["a", "b", "c", "d"]))


def test_a_cycle_is_cut_where_it_closes() -> None:
    found = layers(["a", "b"], [("a", "b"), ("b", "a")])
    assert found.layers == [["a"], ["b"]]


def test_ordering_takes_crossings_away() -> None:
    found = layers(list("abcd"), [("a", "d"), ("b", "c")])
    assert found.layers == [["a", "b"], ["c", "d"]]  # as given, the two edges cross
    order(found)
    above, below = found.layers
    assert [{"a": "d", "b": "c"}[name] for name in above] == below
