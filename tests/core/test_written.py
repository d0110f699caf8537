"""A mapping that is written once: reading it, its names, and the axes that all of it must share."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import unknot
from unknot.errors import TraceError


def test_reading() -> None:
    q = unknot.Trace()
    q.normal(torch.zeros(2, 3), 1.0, name="style")
    q.log_term(torch.ones(2), name="bonus")
    assert "style" in q
    assert "missing" not in q
    assert q.get("missing") is None
    assert q.get("style") is q["style"]
    assert len(q) == 2
    assert [name for name, _ in q.items()] == ["style", "bonus"]
    assert [node.name for node in q.variables()] == ["style"]
    assert [node.name for node in q.nodes()] == ["style", "bonus"]
    torch.testing.assert_close(q.log_prob(), q.log_prob("style") + 1)
    with pytest.raises(TraceError, match="no site 'stlye'; did you mean 'style'"):
        q["stlye"]
    with pytest.raises(TraceError, match="It has: none yet"):
        unknot.Trace()["y"]
    assert "style: Normal (2, 3), drawn" in repr(q)


def test_repr_counts_the_known_items() -> None:
    q = unknot.Trace()
    q.concrete(torch.zeros(3, 2), 0.5, value=unknot.partial([0, -1, -1]), name="y")
    q.loss(lambda a, b: a - b, torch.zeros(3), torch.zeros(3), name="x")
    assert "y: Concrete (3, 2), 1 of 3 items observed" in repr(q)
    assert "x: Loss (3,), observed" in repr(q)


def test_a_name_is_written_once() -> None:
    q = unknot.Trace()
    q.normal(torch.zeros(2), 1.0, name="z")
    for write in (
        lambda: q.normal(torch.zeros(2), 1.0, name="z"),
        lambda: q.log_term(torch.zeros(2), name="z"),
        lambda: q.loss(lambda a, b: a - b, torch.zeros(2), torch.zeros(2), name="z"),
    ):
        with pytest.raises(TraceError, match="site 'z' exists already"):
            write()


@pytest.mark.parametrize("name", ["", "digit[1]", "digit[2].style", 3])
def test_names_do_not_read_as_numbered_scopes(name: Any) -> None:
    with pytest.raises(TraceError, match="a site's name is a text"):
        unknot.Trace().normal(torch.zeros(2), 1.0, name=name)


def test_sites_of_different_batches() -> None:
    q = unknot.Trace()
    q.concrete(torch.zeros(4, 2), 0.5, name="y")
    with pytest.raises(TraceError, match=r"site 'z'.*\(3,\).*do not fit.*\(4,\)"):
        q.concrete(torch.zeros(3, 2), 0.5, name="z")
    with pytest.raises(TraceError, match=r"site 'w'.*\(5, 3\).*do not fit.*\(4,\)"):
        q.concrete(torch.zeros(5, 3, 2), 0.5, name="w")
    assert list(q) == ["y"]
