"""Generated items of any program: expected or drawn, in the shape of the data."""

from __future__ import annotations

import pytest
import torch

import unknot
from unknot.core.program import Program, as_program
from unknot.errors import SpecError
from unknot.models import node
from unknot.workflow.generation import deterministic_children, expected_items, sampled_items


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


@pytest.mark.parametrize("program", [as_program(Drawn()), as_program(Lost())])
def test_the_mean_of_the_data_site(program: Program) -> None:
    z = torch.tensor([[1.0, 2.0], [0.0, -1.0]])
    made = expected_items(program, {"z": z}, 2, torch.Size((2,)))
    torch.testing.assert_close(made, 3 * z)
    assert expected_items(program, {}, 5, torch.Size((2,))).shape == (5, 2)


def test_data_of_another_shape_is_refused() -> None:
    with pytest.raises(SpecError, match=r"shape \(4, 2\) for 4 items of shape \(3,\)"):
        expected_items(as_program(Drawn()), {}, 4, torch.Size((3,)))


def test_draws_spread_around_the_mean() -> None:
    z, shape = torch.ones(2000, 2), torch.Size((2,))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        drawn = sampled_items(as_program(Drawn()), {"z": z}, 2000, shape)
    assert abs(drawn.mean() - 3) < 5 * 0.1 / 4000**0.5
    assert abs(drawn.std() / 0.1 - 1) < 5 / 8000**0.5
    torch.testing.assert_close(
        sampled_items(as_program(Lost()), {"z": z}, 2000, shape), 3 * z
    )  # a loss draws nothing


class Pixels:
    def decode(self, x: torch.Tensor | None, q: object) -> unknot.Trace:
        p = unknot.Trace()
        p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")  # type: ignore[index]
        p.bernoulli(torch.full((3, 2), 0.3), value=x, name="x", event_dims=1)
        return p


def test_pixels_stay_grey() -> None:
    made = sampled_items(as_program(Pixels()), {"z": torch.zeros(3, 2)}, 3, torch.Size((2,)))
    torch.testing.assert_close(made, torch.full((3, 2), 0.3))


# ---- Which variables follow a changed one ----------------------------------------------------------------


def test_only_what_never_looks_at_the_data_follows() -> None:
    nodes = [
        node("light", "direction", 3, inferred_from=["x"]),
        node("who", "concrete", 4, inferred_from=["x"]),
        node("shape", "normal", 2, inferred_from=["light", "who"]),
        node("shade", "normal", 2, inferred_from=["shape"]),
        node("style", "normal", 2, inferred_from=["x", "who"]),
        node("x", "normal", parents=["shape", "shade", "style"]),
    ]
    assert deterministic_children(nodes, "light") == ["shape", "shade"]
    assert deterministic_children(nodes, "shape") == ["shade"]
    assert deterministic_children(nodes, "style") == []
