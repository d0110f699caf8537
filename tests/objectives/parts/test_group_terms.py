"""Correlations and information of some groups alone: by loops over items, and laws."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
import torch
from torch import Tensor

import unknot
from unknot.errors import SpecError
from unknot.objectives import semi_supervised
from unknot.objectives.decomposition import decompose
from unknot.objectives.parts.weights import correlation_between, information_of

B, K, D = 6, 3, 2
APART = {"parents": {"digit": []}}
LABELS = torch.tensor([0, -1, 2, -1, 1, 0])
LIGHTS = torch.tensor([[0.3], [float("nan")], [float("nan")], [-1.0], [0.1], [2.0]], dtype=torch.float64)


def traces(labeled: bool = True, same: bool = False) -> tuple[unknot.Trace, unknot.Trace]:
    """A digit, a light (a number) and a style, each read from x apart from the others; ``same``: q is p."""
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> Tensor:
        found = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return torch.zeros_like(found) if same else found.requires_grad_()

    torch.manual_seed(1)
    q, p = unknot.Trace(), unknot.Trace()
    digit = unknot.partial(LABELS) if labeled else None
    light = unknot.partial(LIGHTS) if labeled else None
    q.one_hot_categorical(logits=drawn(B, K), value=digit, name="digit", gradient="straight_through")
    q.normal(drawn(B, 1), 1.0 if same else 0.5, value=light, name="light", event_dims=1)
    q.normal(drawn(B, D), 1.0 if same else 0.7, name="style", event_dims=1)
    zeros = torch.zeros(K, dtype=torch.float64)
    p.one_hot_categorical(logits=zeros, value=q["digit"], name="digit")
    p.normal(zeros[:1], 1.0, value=q["light"], name="light", event_dims=1)
    p.normal(zeros[:D], 1.0, value=q["style"], name="style", event_dims=1)
    p.log_term(torch.zeros(B, dtype=torch.float64), name="x")
    return q, p


def density(q: unknot.Trace, name: str, b: int, c: int) -> float:
    """q(value of item b | x_c), a mass or a density, written out."""
    dist, value = q[name].dist, q[name].value.detach()
    if name == "digit":
        return float(dist.probs[c, value[b].argmax()].detach())
    total = 1.0
    for d in range(value.shape[-1]):
        loc, scale = float(dist.loc[c, d].detach()), float(dist.scale[c, d])
        off = (float(value[b, d]) - loc) / scale
        total *= math.exp(-0.5 * off * off) / (scale * math.sqrt(2 * math.pi))
    return total


def log_mixture(q: unknot.Trace, names: list[str], b: int, size: int) -> float:
    """log Σ_c w_bc Π q(value of b | x_c), with the weights of E19's stratified estimate."""
    total = 0.0
    for c in range(B):
        weight = 1 / size if c == b else (size - 1) / (size * (B - 1))
        total += weight * math.prod(density(q, name, b, c) for name in names)
    return math.log(total)


@pytest.mark.parametrize("size", [B, 50])
@pytest.mark.parametrize("labeled", [False, True])
@pytest.mark.parametrize("pair", list(combinations(["digit", "light", "style"], 2)))
def test_pairs_by_loops(pair: tuple[str, str], labeled: bool, size: int) -> None:
    """With size = B the weights are all 1 / N: q of the finite data, exactly."""
    q, p = traces(labeled)
    found = correlation_between(q, p, ", ".join(pair), size, None, APART)
    for b in range(B):
        alone = sum(log_mixture(q, [name], b, size) for name in pair)
        assert float(found[b].detach()) == pytest.approx(
            alone - log_mixture(q, list(pair), b, size), abs=1e-9
        )


def test_information_by_loops_and_nothing_where_it_is_known() -> None:
    q, _ = traces()
    for name, known in (("style", torch.zeros(B, dtype=torch.bool)), ("light", ~LIGHTS.isnan()[:, 0])):
        found = information_of(q, name, 50, None, APART)
        for b in range(B):
            wanted = 0.0 if known[b] else log_mixture(q, [name], b, 50) - math.log(density(q, name, b, b))
            assert float(found[b].detach()) == pytest.approx(wanted, abs=1e-9)


def test_groups_go_by_their_name() -> None:
    q, p = traces()
    groups = {"named": ["digit", "light"], "style": ["style"]}
    found = correlation_between(q, p, "named, style", 50, groups, APART)
    torch.testing.assert_close(found, decompose(q, p, 50, groups, **APART)["between"])
    joint = information_of(q, "named", 50, groups, APART)
    for b in (1, 2):  # 1 knows neither, 2 its digit
        own = math.log(density(q, "digit", b, b) * density(q, "light", b, b))
        wanted = log_mixture(q, ["digit", "light"], b, 50) - own if b == 1 else 0.0
        assert float(joint[b].detach()) == pytest.approx(wanted, abs=1e-9)


def test_all_variables_together_are_the_root_and_order_does_not_matter() -> None:
    q, p = traces()
    whole = correlation_between(q, p, "digit, light, style", 50, None, APART)
    torch.testing.assert_close(whole, decompose(q, p, 50, **APART)["between"])
    torch.testing.assert_close(whole, correlation_between(q, p, "style, digit, light", 50, None, APART))


def test_a_encoder_that_is_the_prior_pays_nothing() -> None:
    q, p = traces(labeled=False, same=True)
    assert float(correlation_between(q, p, "digit, style", 50, None, APART).abs().max()) < 1e-12
    assert float(information_of(q, "style", 50, None, APART).abs().max()) < 1e-12


def test_without_gradients_the_numbers_are_the_same() -> None:
    with_gradient = correlation_between(*traces(), "digit, style", 50, None, APART)
    with torch.no_grad():
        torch.testing.assert_close(
            with_gradient.detach(), correlation_between(*traces(), "digit, style", 50, None, APART)
        )
    q, p = traces()
    value = correlation_between(q, p, "light, style", 50, None, APART).sum()
    slopes = torch.autograd.grad(
        value, [q["light"].dist.loc, q["style"].dist.loc, q["digit"].dist.logits], allow_unused=True
    )
    assert slopes[2] is None  # the digit has no part in it
    assert all(bool((slope != 0).any()) for slope in slopes[:2])


def test_a_style_that_is_read_from_the_digit_is_summed_over_it() -> None:
    """q(z | x) = Σ_k q(k | x) q(z | x, k): by loops over items and classes."""
    torch.manual_seed(0)
    logits, table = torch.randn(B, K, dtype=torch.float64), torch.randn(B, K, dtype=torch.float64)
    q = unknot.Trace()
    digit = q.one_hot_categorical(logits=logits, name="digit", gradient="enumerate")
    q.normal((digit * table).sum(-1, keepdim=True), 0.7, name="style", event_dims=1)
    found = information_of(q, "style", 50, None, {"parents": {"style": ["digit"]}})
    shares, value, found = logits.softmax(-1), q["style"].value.reshape(K, B), found.reshape(K, B)

    def of_item(c: int, z: float) -> float:
        offs = [(z - float(table[c, k])) / 0.7 for k in range(K)]
        kernel = [math.exp(-0.5 * off * off) / (0.7 * math.sqrt(2 * math.pi)) for off in offs]
        return sum(float(shares[c, k]) * kernel[k] for k in range(K))

    for k in range(K):
        for b in range(B):
            z = float(value[k, b])
            mixed = sum(of_item(c, z) * (1 / 50 if c == b else 49 / (50 * (B - 1))) for c in range(B))
            assert float(found[k, b]) == pytest.approx(math.log(mixed) - math.log(of_item(b, z)), abs=1e-6)


def test_prices_enter_the_objective_less_one() -> None:
    q, p = traces()
    plain = semi_supervised(q, p)
    weighted = semi_supervised(
        q, p, between={"digit, style": 6.0}, information={"style": 3.0}, dataset_size=50, **APART
    )
    assert weighted.weights["between[digit, style]"] == 5.0
    assert weighted.weights["information[style]"] == 2.0
    extra = 5 * weighted["between[digit, style]"] + 2 * weighted["information[style]"]
    torch.testing.assert_close(weighted.per_item, plain.per_item + extra)
    assert set(weighted) - set(plain) == {"between[digit, style]", "information[style]"}


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"between": {"digit, stile": 2.0}}, "no variable or group 'stile'; did you mean 'style'"),
        ({"between": {"digit": 2.0}}, "must name two or more groups"),
        ({"between": {"digit, digit": 2.0}}, "must name two or more groups"),
        ({"information": {"digits": 2.0}}, "no variable or group 'digits'; did you mean 'digit'"),
    ],
)
def test_mistakes(weights: dict[str, dict[str, float]], said: str) -> None:
    q, p = traces()
    with pytest.raises(SpecError, match=said):
        semi_supervised(q, p, dataset_size=50, **weights, **APART)


def test_a_group_whose_parents_are_outside_has_no_information_of_its_own() -> None:
    q, _ = traces()
    with pytest.raises(SpecError, match="'both' is read from digit too"):
        information_of(
            q, "both", 50, {"both": ["light", "style"], "digit": ["digit"]}, {"parents": {"style": ["digit"]}}
        )
