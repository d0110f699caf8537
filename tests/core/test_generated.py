"""Generated: what a program says of its data by methods of its own comes first; else its data site tells."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import unknot
from unknot.core.generated import drawn, drawn_at, expected


class Plain:
    def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(2), torch.ones(2), value=q["z"], name="z")
        p.normal(3 + 0 * z, 1.0, value=x, name="x")
        return p


class Greys(Plain):
    def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(2), torch.ones(2), value=q["z"], name="z")
        p.bernoulli(torch.full_like(z, 0.3), value=x, name="x")
        return p


class Losing(Plain):
    def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(2), torch.ones(2), value=q["z"], name="z")
        p.loss(lambda made, x: (made - x) ** 2, z, x, name="x")
        return p


def test_the_data_site_tells() -> None:
    torch.manual_seed(0)
    assert torch.equal(expected(Plain(), unknot.given(5), "x"), torch.full((5, 2), 3.0))
    assert (drawn(Plain(), unknot.given(5), "x") != 3).all()
    z = torch.randn(5, 2)
    assert torch.equal(drawn(Losing(), unknot.given(5, z=z), "x"), z)


def test_greys_are_not_drawn() -> None:
    torch.testing.assert_close(drawn(Greys(), unknot.given(5), "x"), torch.full((5, 2), 0.3))
    p = Greys().decode(None, unknot.given(5))
    torch.testing.assert_close(drawn_at(p["x"]), torch.full((5, 2), 0.3))


def test_methods_of_the_program_come_first() -> None:
    class Knows(Plain):
        def expected(self, q: Any) -> Tensor:
            return torch.ones(1)

    class Draws(Knows):
        def drawn(self, q: Any) -> Tensor:
            return torch.zeros(1)

    asked = unknot.given(1)
    assert expected(Knows(), asked, "x").tolist() == drawn(Knows(), asked, "x").tolist() == [1.0]
    assert drawn(Draws(), asked, "x").tolist() == [0.0]
