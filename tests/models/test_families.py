"""Families of latent nodes: priors, values, summaries, and their units."""

from __future__ import annotations

import pytest
import torch
from torch.distributions import Bernoulli, Normal

import unknot
from unknot.errors import SpecError
from unknot.models import GraphicalModel, node
from unknot.models.families import NormalFamily, family
from unknot.models.spec import LATENT_FAMILIES, read_spec

SIZES = {"direction": 3}
TEMPERATURE = torch.tensor(0.5)


def make(name: str):
    return family(node("z", name, SIZES.get(name, 4), recognised_from=["x"]))


@pytest.mark.parametrize("name", LATENT_FAMILIES)
def test_every_family_keeps_its_contract(name: str) -> None:
    one = make(name)
    outputs = torch.randn(5, one.parameters_size)
    q, p = unknot.Trace(), unknot.Trace()
    value = one.recognise(q, outputs, None, TEMPERATURE)
    assert one.features(value).shape[-1] == one.value_size
    one.generate(p, one.prior_outputs(), q["z"], TEMPERATURE)
    assert p["z"].log_prob.shape[-1] == 5
    assert torch.isfinite(p["z"].log_prob).all()
    assert one.summary(outputs).shape[0] == one.point(outputs).shape[0] == 5
    assert one.point(outputs).shape[-1] == one.size
    drawn = one.generate(unknot.Trace(), one.prior_outputs(), unknot.given(3)["z"], TEMPERATURE)
    assert drawn.shape == (3, one.size)


@pytest.mark.parametrize("name", ["concrete", "categorical", "bernoulli", "relaxed_bernoulli"])
def test_generated_classes_are_whole(name: str) -> None:
    one = make(name)
    drawn = one.generate(unknot.Trace(), one.prior_outputs(), unknot.given(50)["z"], TEMPERATURE)
    assert set(drawn.unique().tolist()) == {0.0, 1.0}


def test_the_prior_of_a_gaussian_is_in_its_own_units() -> None:
    one = NormalFamily(node("z", "normal", 2, recognised_from=["x"], centre=[5.0, -1.0], spread=[10.0, 0.1]))
    p = unknot.Trace()
    one.generate(p, one.prior_outputs(), unknot.given(4)["z"], TEMPERATURE)
    torch.testing.assert_close(p["z"].dist.loc, torch.tensor([5.0, -1.0]))
    torch.testing.assert_close(p["z"].dist.scale, torch.tensor([10.0, 0.1]))
    torch.testing.assert_close(one.features(torch.tensor([15.0, -1.1])), torch.tensor([1.0, -1.0]))
    zero = torch.zeros(1, 4)
    torch.testing.assert_close(one.summary(zero), torch.tensor([[5.0, -1.0]]))


def test_units_do_not_change_the_model() -> None:
    """The same weights on labels in other units: bounds differ by the logarithm of the units where labels are known."""

    def model(**units: list[float]) -> GraphicalModel:
        torch.manual_seed(0)
        nodes = [
            node("a", "normal", 1, recognised_from=["x"], labels=True, **units),
            node("z", "normal", 2, recognised_from=["x", "a"]),
            node("x", "normal", parents=["a", "z"]),
        ]
        return GraphicalModel(nodes, (3,))

    x, labels = torch.randn(4, 3), torch.tensor([0.3, -1.2, 0.0, 2.0])
    plain, scaled = model(), model(centre=[100.0], spread=[20.0])
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
        ({"centre": [1.0]}, "one number for each dimension"),
        ({"spread": [1.0, 0.0]}, "spread must be positive"),
        ({"centre": 3.0}, "centre is a list"),
    ],
)
def test_units_that_do_not_fit(settings: dict, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_spec(
            [node("z", "normal", 2, recognised_from=["x"], **settings), node("x", "normal", parents=["z"])]
        )


def test_directions_have_three_numbers() -> None:
    with pytest.raises(SpecError, match="of size 3, not 2"):
        read_spec([node("z", "direction", 2, recognised_from=["x"]), node("x", "normal", parents=["z"])])


def test_distributions_are_torchs_own() -> None:
    outputs = torch.randn(5, 8)
    q = unknot.Trace()
    make("normal").recognise(q, outputs, None, TEMPERATURE)
    loc, raw = outputs.chunk(2, -1)
    expected = Normal(loc, torch.nn.functional.softplus(raw) + 1e-3).log_prob(q["z"].value).sum(-1)
    torch.testing.assert_close(q["z"].log_prob, expected)
    yes = torch.tensor([[1.0, 0.0, 1.0, 1.0]]).expand(5, 4)
    r = unknot.Trace()
    make("bernoulli").recognise(r, outputs[:, :4], unknot.partial(yes), TEMPERATURE)
    torch.testing.assert_close(r["z"].log_prob, Bernoulli(logits=outputs[:, :4]).log_prob(yes).sum(-1))


def test_networks_see_a_direction_standardised() -> None:
    light = family(node("light", "direction", 3, recognised_from=["x"]))
    directions = torch.nn.functional.normalize(torch.randn(200_000, 3), dim=-1)
    seen = light.features(directions)
    torch.testing.assert_close(seen.mean(0), torch.zeros(8), rtol=0, atol=5 / 200_000**0.5)
    covariance = seen.T @ seen / len(seen)  # entries have a standard error of about 1 / sqrt(N)
    torch.testing.assert_close(covariance, torch.eye(8), rtol=0, atol=6 * 1.5 / 200_000**0.5)
