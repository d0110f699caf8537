"""The data any program expects: from a distribution, from a loss, or by its own word."""

from __future__ import annotations

import pytest
import torch

import unknot
from unknot.errors import SpecError
from unknot.workflow.generation import data_site, drawn_data, expected_data


class Drawn:
    def decode(self, x: torch.Tensor | None, q: object) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")  # type: ignore[index]
        p.normal(3 * z, 0.1, value=x, name="x", event_dims=1)
        return p


class Lost(Drawn):
    def decode(self, x: torch.Tensor | None, q: object) -> unknot.Trace:
        p = unknot.Trace()
        z = p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")  # type: ignore[index]
        p.loss(lambda made, target: (made - target) ** 2, 3 * z, x, name="x")
        return p


@pytest.mark.parametrize("program", [Drawn(), Lost()])
def test_the_mean_of_the_data_site(program: Drawn) -> None:
    z = torch.tensor([[1.0, 2.0], [0.0, -1.0]])
    made = expected_data(program, {"z": z}, 2, "x", torch.Size((2,)))
    torch.testing.assert_close(made, 3 * z)
    assert expected_data(program, {}, 5, "x", torch.Size((2,))).shape == (5, 2)


def test_data_of_another_shape_is_refused() -> None:
    with pytest.raises(SpecError, match=r"gives \(4, 2\) for 4 items of shape \(3,\)"):
        expected_data(Drawn(), {}, 4, "x", torch.Size((3,)))


def test_there_is_one_data_site() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    q.normal(torch.zeros(4, 2), 1.0, name="z")
    p.normal(0.0, 1.0, value=q["z"], name="z")
    with pytest.raises(SpecError, match="found: none"):
        data_site(q, p)
    p.normal(torch.zeros(4, 2), 1.0, value=torch.zeros(4, 2), name="x")
    assert data_site(q, p) == "x"


def test_draws_spread_around_the_mean() -> None:
    z, shape = torch.ones(2000, 2), torch.Size((2,))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        drawn = drawn_data(Drawn(), {"z": z}, 2000, "x", shape)
    assert abs(drawn.mean() - 3) < 5 * 0.1 / 4000**0.5
    assert abs(drawn.std() / 0.1 - 1) < 5 / 8000**0.5
    torch.testing.assert_close(drawn_data(Lost(), {"z": z}, 2000, "x", shape), 3 * z)  # a loss draws nothing


class Pixels:
    def decode(self, x: torch.Tensor | None, q: object) -> unknot.Trace:
        p = unknot.Trace()
        p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")  # type: ignore[index]
        p.bernoulli(torch.full((3, 2), 0.3), value=x, name="x", event_dims=1)
        return p


def test_pixels_stay_grey() -> None:
    made = drawn_data(Pixels(), {"z": torch.zeros(3, 2)}, 3, "x", torch.Size((2,)))
    torch.testing.assert_close(made, torch.full((3, 2), 0.3))
