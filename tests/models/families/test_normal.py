"""Real numbers: torch's own distribution, in the units of the labels."""

from __future__ import annotations

import pytest
import torch
from torch.distributions import Normal
from torch.nn.functional import softplus

import unknot
from unknot.errors import SpecError
from unknot.models import GraphicalModel, node
from unknot.models.families.normal import NormalFamily
from unknot.models.spec import read_spec

TEMPERATURE = torch.tensor(0.5)


def test_the_prior_of_a_gaussian_is_in_its_own_units() -> None:
    one = NormalFamily(
        node("z", "normal", 2, inferred_from=["x"], prior={"center": [5.0, -1.0], "spread": [10.0, 0.1]})
    )
    p = unknot.Trace()
    one.generate(p, one.prior_outputs(), unknot.given(4)["z"], TEMPERATURE)
    torch.testing.assert_close(p["z"].dist.loc, torch.tensor([5.0, -1.0]))
    torch.testing.assert_close(p["z"].dist.scale, torch.tensor([10.0, 0.1]))
    torch.testing.assert_close(one.features(torch.tensor([15.0, -1.1])), torch.tensor([1.0, -1.0]))


def test_units_do_not_change_the_model() -> None:
    """The same weights on labels in other units: bounds differ by the logarithm of the units where labels are known."""

    def model(**prior: list[float]) -> GraphicalModel:
        torch.manual_seed(0)
        nodes = [
            node("a", "normal", 1, inferred_from=["x"], labels=True, prior=prior),
            node("z", "normal", 2, inferred_from=["x", "a"]),
            node("x", "normal", parents=["a", "z"]),
        ]
        return GraphicalModel(nodes, (3,))

    x, labels = torch.randn(4, 3), torch.tensor([0.3, -1.2, 0.0, 2.0])
    plain, scaled = model(), model(center=[100.0], spread=[20.0])
    torch.manual_seed(1)
    q = plain.encode(x, {"a": labels})
    torch.manual_seed(1)
    r = scaled.encode(x, {"a": 100 + 20 * labels})
    torch.testing.assert_close(plain.decode(x, q)["x"].log_prob, scaled.decode(x, r)["x"].log_prob)
    shift = torch.log(torch.tensor(20.0))
    torch.testing.assert_close(q["a"].log_prob, r["a"].log_prob + shift, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"center": [1.0]}, "one number for each of 2 dimensions"),
        ({"spread": [1.0, 0.0]}, "spread.1. is a number above 0, but got 0"),
        ({"center": 3.0}, "center is a list"),
    ],
)
def test_units_that_do_not_fit(settings: dict, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_spec(
            [node("z", "normal", 2, inferred_from=["x"], prior=settings), node("x", "normal", parents=["z"])]
        )


def test_the_distribution_is_torchs_own() -> None:
    outputs = torch.randn(5, 8)
    q = unknot.Trace()
    NormalFamily(node("z", "normal", 4, inferred_from=["x"])).recognize(q, outputs, None, TEMPERATURE)
    loc, raw = outputs.chunk(2, -1)
    expected = Normal(loc, softplus(raw) + 1e-3).log_prob(q["z"].value).sum(-1)
    torch.testing.assert_close(q["z"].log_prob, expected)


def test_standard_deviations_in_the_nodes_units() -> None:
    spec = node("z", "normal", 2, inferred_from=["x"], prior={"center": [5.0, -1.0], "spread": [10.0, 0.1]})
    sweep = torch.tensor([[-2.0, 0.0], [0.0, 2.0]])
    expected = torch.tensor([[-15.0, -1.0], [5.0, -0.8]])
    torch.testing.assert_close(NormalFamily.from_standard(spec, sweep), expected)


def test_units_of_labels_are_their_mean_and_standard_deviation() -> None:
    labels = torch.tensor([10.0, 20.0, 60.0])
    described = NormalFamily.describe(labels, None)
    assert described["prior"]["center"] == [30.0]
    assert described["prior"]["spread"] == pytest.approx([((20**2 + 10**2 + 30**2) / 3) ** 0.5])
