"""The hook is told of every site, in order, and only inside its block."""

from __future__ import annotations

import torch

import unknot
from unknot.core.site_hook import listening, unheard


class Listener:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def site(self, trace: unknot.Trace, node: unknot.Node) -> None:
        self.heard.append(node.name)
        assert trace[node.name] is node


def program() -> unknot.Trace:
    q = unknot.Trace()
    with q.scope("digit", 0):
        q.normal(torch.zeros(2), 1.0, name="z")
    q.loss(lambda a, b: (a - b) ** 2, torch.zeros(2), torch.ones(2), name="x")
    q.log_term(torch.zeros(2), name="bonus")
    return q


def test_every_kind_of_site_is_announced() -> None:
    listener = Listener()
    with listening(listener):
        program()
    program()
    assert listener.heard == ["digit[0].z", "x", "bonus"]


def test_nobody_hears_of_sites_within_unheard() -> None:
    listener = Listener()
    with listening(listener):
        with unheard():
            program()
        program()
    assert listener.heard == ["digit[0].z", "x", "bonus"]


def test_the_innermost_block_listens() -> None:
    outer, inner = Listener(), Listener()
    with listening(outer):
        with listening(inner):
            program()
        program()
    assert len(inner.heard) == len(outer.heard) == 3
