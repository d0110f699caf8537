"""One node as data: what may be said of it, and how lists are written."""

from __future__ import annotations

import pytest

from unknot.errors import SpecError
from unknot.models.node_spec import node


def test_one_parent_needs_no_list() -> None:
    one = node("z", "normal", 2, parents="y", inferred_from="x")
    assert (one.parents, one.inferred_from) == (("y",), ("x",))


def test_lists_become_tuples() -> None:
    assert node("z", "normal", 2, hidden=[3, 4], center=[0.5, 1.0]).hidden == (3, 4)
    with pytest.raises(SpecError, match=r"model.nodes.z.hidden is a list of layers, .*, but got 3"):
        node("z", "normal", 2, hidden=3)


def test_a_node_that_is_inferred_from_nothing_is_data() -> None:
    assert node("x", "normal", parents=["z"]).is_data
    assert not node("z", "normal", 2, inferred_from=["x"]).is_data


def test_wrong_keys_are_refused_with_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"model.nodes.digit: unknown key 'label'; did you mean 'labels'"):
        node("digit", "concrete", 10, label=True)
