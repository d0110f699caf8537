"""Evidence at a single site: what it allows, how draws are conditioned, and what is refused."""

from __future__ import annotations

import math

import pytest
import torch
from scipy.stats import truncnorm, uniform
from torch import Tensor
from torch.distributions import Categorical, Distribution, Laplace, LogNormal, Normal, Uniform

import unknot
from tests.statistics import assert_distribution, assert_frequencies, assert_mean
from unknot.core.potentials import Truncated
from unknot.errors import TraceError
from unknot.objectives import supervised

# ---- what the constructors say


def psi(given: unknot.Partial) -> list[list[float]]:
    assert given.evidence is not None
    return given.evidence.log_potential.exp().tolist()  # type: ignore[attr-defined]


def test_a_single_class_is_a_label_and_all_classes_are_nothing() -> None:
    given = unknot.partial(allowed=[[True, False, True], [False, True, False], [True, True, True]])
    assert given.values.tolist() == [-1, 1, -1]
    assert given.known.tolist() == [False, True, False]
    assert given.informed.tolist() == [True, True, False]
    assert psi(given) == [[1, 0, 1], [0, 1, 0], [1, 1, 1]]


def test_equal_weights_tell_nothing() -> None:
    given = unknot.partial(probabilities=[[0.5, 0.5], [0.25, 0.5]])
    assert given.informed.tolist() == [False, True]


def test_items_that_are_not_known_have_no_evidence() -> None:
    given = unknot.partial(allowed=[[True, False], [True, False]], known=[True, False])
    assert given.informed.tolist() == [True, False]


class Pairs:
    """Classes 0 and 1 are below node 0, classes 2 and 3 below node 1; nodes 2 to 5 are the leaves."""

    def mask(self, node: Tensor) -> Tensor:
        below = torch.tensor([[1, 1, 0, 0], [0, 0, 1, 1], *torch.eye(4).long().tolist(), [1, 1, 1, 1]])
        return below[node].bool()


def test_a_node_of_a_tree_allows_the_classes_below_it() -> None:
    given = unknot.partial(tree=Pairs(), node=torch.tensor([1, 3, -1]))
    assert psi(given) == [[0, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 1]]
    assert given.known.tolist() == [False, True, False]


def test_reports_multiply_the_columns_of_the_raters() -> None:
    matrices = torch.tensor([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.3, 0.7]]], dtype=torch.float64)
    given = unknot.partial(torch.tensor([[0, 1], [-1, 1], [-1, -1]]), confusion=matrices)
    assert psi(given) == [
        pytest.approx([0.9 * 0.4, 0.2 * 0.7]), pytest.approx([0.4, 0.7]), [1.0, 1.0]
    ]  # fmt: skip
    assert given.informed.tolist() == [True, True, False]


def test_more_reports_than_classes() -> None:
    given = unknot.partial([2, -1], confusion=[[0.5, 0.25, 0.25], [0.5, 0.0, 0.5]])
    assert psi(given)[0] == pytest.approx([0.25, 0.5])


def test_reports_of_a_matrix_that_says_nothing_count_while_it_is_learned() -> None:
    matrix = torch.full((2, 2), 0.5, requires_grad=True)
    q = unknot.Trace()
    q.categorical(logits=torch.tensor([[1.0, 0.0]]), value=unknot.partial([1], confusion=matrix), name="y")
    supervised(q, unknot.Trace()).loss.backward()
    probs = torch.tensor([1.0, 0.0]).softmax(0)
    torch.testing.assert_close(matrix.grad, torch.stack([torch.zeros(2), -probs / 0.5], 1))


def test_intervals_with_one_length_zero_are_points_and_open_ones_nothing() -> None:
    given = unknot.partial(low=[0.0, 1.0, -math.inf], high=[math.inf, 1.0, math.inf])
    assert given.known.tolist() == [False, True, False]
    assert given.informed.tolist() == [True, True, False]
    assert given.values[1] == 1.0


def test_rows_and_devices_carry_the_evidence() -> None:
    given = unknot.partial(probabilities=[[0.5, 0.25], [1.0, 1.0]]).rows(torch.tensor([1, 0, 0])).to("cpu")
    assert psi(given) == [[1, 1], [0.5, 0.25], [0.5, 0.25]]
    assert given.informed.tolist() == [False, True, True]


# ---- refusals name site and item


def site(given: unknot.Partial, dist: Distribution | None = None) -> None:
    unknot.Trace().variable(dist or Categorical(logits=torch.zeros(2, 3)), given, name="y")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"allowed": [[True] * 3, [False] * 3]}, "site 'y': allowed of item 1 rules out all 3 classes"),
        ({"probabilities": [[0.0] * 3, [1.0] * 3]}, "site 'y': probabilities of item 0 rules out all 3 classes"),
        ({"probabilities": [[1.0] * 3, [1.0, -1.0, 0]]}, "'y': probabilities of item 1 has a number that is negative"),
        ({"probabilities": [[1.0] * 3, [1.0, math.nan, 0]]}, "probabilities of item 1 has a number .* NaN"),
        ({"allowed": [[True, False]] * 2}, r"site 'y' has 3 classes, but allowed= is about 2; expected .*\(2, 3\)"),
        ({"low": [0.0, 0.0], "high": [1.0, 1.0]}, "site 'y': low= and high= need a family .* is a Categorical"),
    ],
)  # fmt: skip
def test_wrong_evidence_is_refused_at_the_site(given: dict, words: str) -> None:
    with pytest.raises(TraceError, match=words):
        site(unknot.partial(**given))


def test_wrong_evidence_about_numbers_is_refused_at_the_site() -> None:
    normal = Normal(torch.zeros(2), 1.0)
    with pytest.raises(
        TraceError, match=r"site 'y': the interval of item 1 has low=2 and high=1; expected low <= high"
    ):
        site(unknot.partial(low=[0.0, 2.0], high=[1.0, 1.0]), normal)
    with pytest.raises(TraceError, match="site 'y': scale of item 0 is not a positive finite number"):
        site(unknot.partial(torch.zeros(2), scale=torch.tensor([-1.0, 1.0])), normal)
    with pytest.raises(TraceError, match="site 'y': scale= is for normal sites, but the site is a Laplace"):
        site(unknot.partial(torch.zeros(2), scale=1.0), Laplace(torch.zeros(2), 1.0))
    with pytest.raises(
        TraceError, match="site 'y': allowed= is evidence about classes, but the site is a Normal"
    ):
        site(unknot.partial(allowed=[[True, False]] * 2), normal)
    with pytest.raises(TraceError, match=r"site 'y': low= and high= need a family .* is a StudentT"):
        site(unknot.partial(low=torch.zeros(2)), torch.distributions.StudentT(3.0, torch.zeros(2)))
    with pytest.raises(TraceError, match="low = high in some entries only"):
        site(unknot.partial(low=[[0.0, 0.0]], high=[[0.0, 1.0]]), Normal(torch.zeros(1, 2), 1.0))


def test_several_variables_for_each_item_are_refused() -> None:
    given = unknot.partial(allowed=[[True, False, True]] * 2)
    with pytest.raises(TraceError, match="site 'y': evidence about classes is about one variable per item"):
        unknot.Trace().variable(Categorical(logits=torch.zeros(2, 4, 3)), given, name="y", event_dims=1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((), {}), "needs values"),
        ((([1],), {"allowed": [[True]]}), "takes allowed= instead of values"),
        (((), {"allowed": [[True]], "probabilities": [[1.0]]}), "one kind of evidence, but got allowed= and"),
        (((), {"tree": Pairs()}), "takes tree= and node= together"),
        (((), {"allowed": [True, False]}), r"allowed=.* shape \(B, K\), but got \(2,\)"),
        ((([0.5],), {"confusion": [[1.0]]}), "as whole numbers"),
        ((([0, 1],), {"confusion": [[[1.0]], [[1.0]]]}), r"a matrix \(K, R\) for each of 1 raters"),
        ((([2],), {"confusion": [[1.0, 0.0], [0.0, 1.0]]}), r"item 0 was reported as \[2\], .* columns 0 to 1"),
        ((([0],), {"confusion": [[0.9, 0.4], [0.1, 0.6]]}), "row 0 of the matrix of rater 0 sums to 1.3"),
        ((([0.0, 1.0],), {"scale": [1.0, 1.0, 1.0]}), r"one for each value, shape \(2,\), but got \(3,\)"),
        (((), {"low": [0.0, 1.0], "high": [0.0, 1.0, 2.0]}), r"ends of one shape, but got \(2,\) and \(3,\)"),
        (((), {"low": 0.0}), "one interval per item"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(arguments: tuple, words: str) -> None:
    with pytest.raises(TraceError, match=words):
        unknot.partial(*arguments[0], **arguments[1])


# ---- draws are those of the conditioned distribution


WAYS = ["score_function", "straight_through", "plug_in", "enumerate", "detached"]


@pytest.mark.parametrize("way", WAYS)
def test_draws_and_probabilities_of_a_class(way: str) -> None:
    """20,000 draws of one site, at the failure rate of tests/statistics.py."""
    torch.manual_seed(0)
    probs, weights = torch.tensor([0.2, 0.3, 0.5]), torch.tensor([[0.9, 0.0, 0.3]])
    q = unknot.Trace(samples=20_000)
    given = unknot.partial(probabilities=weights)
    q.one_hot_categorical(probs=probs.expand(1, 3), value=given, name="y", gradient=way)
    conditioned = (probs * weights[0]) / (probs * weights[0]).sum()
    if way == "enumerate":
        torch.testing.assert_close(q["y"].weight.flatten(), conditioned)
    elif way == "plug_in":
        torch.testing.assert_close(q["y"].value[0, 0], conditioned)
    else:
        counts = q["y"].value[:, 0].argmax(-1).bincount(minlength=3)
        assert counts[1] == 0
        assert_frequencies(counts[[0, 2]], conditioned[[0, 2]])
    torch.testing.assert_close(q["y"].log_label().reshape(-1)[0], (probs * weights[0]).sum().log())


@pytest.mark.parametrize("family", ["concrete", "relaxed_bernoulli", "bernoulli", "categorical"])
def test_every_discrete_family_draws_given_the_evidence(family: str) -> None:
    torch.manual_seed(1)
    q = unknot.Trace(samples=20_000)
    given = unknot.partial(probabilities=[[0.2, 0.8]])
    logits = torch.tensor([[0.0, -1.0]])
    if family == "concrete":
        hard = q.concrete(logits, 0.5, value=given, name="y").argmax(-1)
    elif family == "categorical":
        hard = q.categorical(logits=logits, value=given, name="y")
    elif family == "bernoulli":
        hard = q.bernoulli(logits=torch.tensor([-1.0]), value=given, name="y")
    else:
        hard = q.relaxed_bernoulli(0.5, logits=torch.tensor([-1.0]), value=given, name="y") > 0.5
    joint = logits[0].softmax(0) * torch.tensor([0.2, 0.8])
    assert_frequencies(hard[:, 0].long().bincount(minlength=2), joint / joint.sum())
    torch.testing.assert_close(q["y"].log_label().reshape(-1)[0], joint.sum().log())


ENDS = [
    (-math.inf, 0.3),
    (0.3, math.inf),
    (-1.0, 2.0),
    (6.0, 7.0),
    (-60.0, -40.0),
    (39.0, math.inf),
    (0.2, 0.2001),
]


LOC, SCALE = torch.tensor(0.5, dtype=torch.float64), torch.tensor(2.0, dtype=torch.float64)


@pytest.mark.parametrize("ends", ENDS)
def test_draws_of_an_interval_follow_the_truncated_normal(ends: tuple[float, float]) -> None:
    torch.manual_seed(2)
    low, high = (torch.tensor([end], dtype=torch.float64) * SCALE + LOC for end in ends)
    q = unknot.Trace(samples=20_000)
    z = q.normal(LOC.expand(1), SCALE, value=unknot.partial(low=low, high=high), name="z")[:, 0]
    exact = truncnorm(*ends, loc=LOC.item(), scale=SCALE.item())
    assert_distribution(z, exact.cdf)
    somewhere = exact.median()
    expected = Normal(LOC, SCALE).log_prob(torch.tensor(somewhere)) - exact.logpdf(somewhere)
    torch.testing.assert_close(q["z"].log_label()[0, 0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ends", ENDS)
def test_gradient_of_an_interval(ends: tuple[float, float]) -> None:
    """Draws at fixed noise and the log-probability of the interval, against finite differences."""
    low, high = ((torch.tensor(end, dtype=torch.float64) * SCALE + LOC).expand(5) for end in ends)
    noise = torch.linspace(-2.5, 2.5, 5, dtype=torch.float64)

    def results(loc: Tensor, scale: Tensor) -> Tensor:
        base = Normal(loc.expand(5), scale.expand(5))
        truncated = Truncated(base, low, high, torch.ones(5, dtype=torch.bool))
        drawn = truncated.transport(loc + scale * noise)
        at = drawn.detach()
        return torch.cat([drawn, base.log_prob(at) - truncated.log_prob(at)])

    exact = torch.autograd.functional.jacobian(results, (LOC, SCALE))
    step = 1e-5
    for place in range(2):
        ahead, behind = [LOC, SCALE], [LOC, SCALE]
        ahead[place], behind[place] = ahead[place] + step, behind[place] - step
        numeric = (results(*ahead) - results(*behind)) / (2 * step)
        torch.testing.assert_close(exact[place], numeric, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("family", ["laplace", "log_normal", "uniform"])
def test_intervals_of_other_families(family: str) -> None:
    torch.manual_seed(3)
    dist: Distribution = {
        "laplace": Laplace(torch.full((1,), 0.5), 2.0),
        "log_normal": LogNormal(torch.zeros(1), 1.0),
        "uniform": Uniform(torch.zeros(1), 3.0),
    }[family]
    q = unknot.Trace(samples=20_000)
    given = unknot.partial(low=torch.tensor([0.8]), high=torch.tensor([2.0]))
    z = q.variable(dist, given, name="z")[:, 0]
    start, end = dist.cdf(torch.tensor([0.8])), dist.cdf(torch.tensor([2.0]))
    ranks = (dist.cdf(z) - start) / (end - start)
    assert_distribution(ranks, uniform.cdf)
    torch.testing.assert_close(q["z"].log_label()[0], (end - start).log())


def test_a_measurement_is_the_product_of_two_normals() -> None:
    torch.manual_seed(4)
    q = unknot.Trace(samples=20_000)
    loc, scale, error = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 2.0]]), torch.tensor([[1.0, 0.1]])
    values = torch.tensor([[2.0, 3.0]])
    z = q.normal(loc, scale, value=unknot.partial(values, scale=error), name="z")
    precision = scale**-2 + error**-2
    mean = (loc * scale**-2 + values * error**-2) / precision
    assert_mean(z[:, 0], mean[0])
    assert_mean((z[:, 0] - mean[0]) ** 2, 1 / precision[0])
    expected = Normal(loc, (scale**2 + error**2).sqrt()).log_prob(values).sum(-1)
    torch.testing.assert_close(q["z"].log_label()[0], expected)


# ---- limits


@pytest.mark.parametrize("family", ["normal", "laplace"])
def test_items_without_evidence_are_drawn_as_ever(family: str) -> None:
    loc = torch.randn(3, 2)
    given = unknot.partial(low=torch.tensor([[-math.inf] * 2, [0.0, 1.0], [-math.inf] * 2]))
    drawn = []
    for value in (None, given):
        torch.manual_seed(5)
        q = unknot.Trace(samples=4)
        getattr(q, family)(loc, torch.tensor(0.7), value=value, name="z")
        drawn.append((q["z"].value, q["z"].log_prob, torch.rand(1)))
    rows = [0, 2]
    assert torch.equal(drawn[0][0][:, rows], drawn[1][0][:, rows])
    assert torch.equal(drawn[0][2], drawn[1][2])  # the noise of later sites
    torch.testing.assert_close(drawn[0][1][:, rows], drawn[1][1][:, rows])


def test_an_interval_that_shrinks_tends_to_the_point() -> None:
    point, width = torch.tensor([0.3], dtype=torch.float64), 1e-7
    loc = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    results = []
    for given in (unknot.partial(low=point - width / 2, high=point + width / 2), unknot.partial(point)):
        q = unknot.Trace()
        q.normal(loc, torch.tensor(1.0, dtype=torch.float64), value=given, name="z")
        log_label = q["z"].log_label()
        results.append((q["z"].value, log_label, *torch.autograd.grad(log_label, loc)))
    (value, mass, slope), (exact, label, expected) = results
    torch.testing.assert_close(value, exact, atol=1e-7, rtol=0)
    torch.testing.assert_close(mass - math.log(width), label, atol=1e-9, rtol=0)
    torch.testing.assert_close(slope, expected, atol=1e-9, rtol=0)


def test_the_mode_is_that_of_the_conditioned_distribution() -> None:
    q = unknot.Trace()
    with unknot.modes():
        z = q.normal(torch.zeros(2), 1.0, value=unknot.partial(low=[1.0, -1.0]), name="z")
        y = q.categorical(
            logits=torch.tensor([[2.0, 1.0, 0.0]] * 2),
            value=unknot.partial(allowed=[[False, True, True], [True, True, True]]),
            name="y",
        )
    assert z.tolist() == [1.0, 0.0]
    assert y.tolist() == [1, 0]


def test_what_takes_no_evidence_refuses_it() -> None:
    given = unknot.partial(low=torch.zeros(2))
    p = unknot.Trace()
    with pytest.raises(TraceError, match=r"site 'x': a loss takes values, .* and no evidence"):
        p.loss(lambda a, b: (a - b) ** 2, torch.zeros(2), given, name="x")
    with (
        pytest.raises(TraceError, match="site 'z': a mask leaves out values"),
        unknot.mask(torch.ones(2, dtype=torch.bool)),
    ):
        p.normal(torch.zeros(2), 1.0, value=given, name="z")


def test_a_trace_tells_how_many_items_have_evidence() -> None:
    q = unknot.Trace()
    q.normal(
        torch.zeros(3),
        1.0,
        value=unknot.partial(low=[0.0, 1.0, -math.inf], high=[1.0, 1.0, math.inf]),
        name="z",
    )
    assert "1 of 3 items observed, 1 with evidence" in repr(q)


def test_evidence_that_the_parameters_rule_out_is_refused() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0], [0.0, -math.inf, -math.inf]])
    given = unknot.partial(allowed=[[False, True, True]] * 2)
    with pytest.raises(TraceError, match="site 'y': the evidence about item 1 has probability zero"):
        site(given, Categorical(logits=logits, validate_args=False))
    with pytest.raises(TraceError, match="site 'y': parameter logits of Concrete must be"):
        unknot.Trace().concrete(torch.full((2, 3), math.nan), 0.5, value=given, name="y")
