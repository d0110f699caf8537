"""Evidence in the objectives: against plain sums on random graphs, its gradients, and its laws."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import unknot
from tests.references import evidence as slow
from tests.references.evidence import EvidenceModel, Item, random_model
from tests.statistics import assert_mean
from unknot.errors import SpecError
from unknot.objectives import decompose, elbo, hfvae, importance_weighted, semi_supervised, supervised

ALPHA = 3.0
GRAPHS = range(64)


def by_item(model: EvidenceModel, function: Callable[[int], Tensor]) -> Tensor:
    return torch.stack([function(i) for i in range(model.items)])


def assert_equal_with_gradients(model: EvidenceModel, fast: Tensor, twin: Tensor) -> None:
    """Values to 1e-10, and the gradients of a combination of the items to 1e-6."""
    torch.testing.assert_close(fast, twin, rtol=1e-10, atol=1e-10)
    weights = torch.linspace(0.5, 1.5, model.items, dtype=torch.float64)
    pairs = [
        torch.autograd.grad((one * weights).sum(), model.leaves, retain_graph=True, materialize_grads=True)
        for one in (fast, twin)
    ]
    for found, expected, leaf in zip(*pairs, model.leaves, strict=True):
        is_psi = any(leaf is psi for psi in model.psi.values())
        counts = leaf.detach() > 0 if is_psi else torch.ones_like(leaf, dtype=torch.bool)
        torch.testing.assert_close(found[counts], expected[counts], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("family", ["categorical", "one_hot", "concrete"])
@pytest.mark.parametrize("seed", GRAPHS)
def test_enumerated_sites_are_exact(seed: int, family: str) -> None:
    model = random_model(seed)
    if seed % 2:
        model.psi = {name: psi.detach() for name, psi in model.psi.items()}
    q, p = model.run("enumerate", family=family)
    exact = by_item(model, lambda i: slow.equation_4(model, i, ALPHA))
    assert_equal_with_gradients(model, semi_supervised(q, p, alpha=ALPHA).per_item, exact)
    bound = by_item(model, lambda i: slow.log_evidence(model, i) + ALPHA * slow.log_q_evidence(model, i))
    assert_equal_with_gradients(model, importance_weighted(q, p, alpha=ALPHA).per_item, bound)
    label = by_item(model, lambda i: slow.log_q_evidence(model, i))
    assert_equal_with_gradients(model, supervised(q, p)["classifier"], label)


def draws_of(q: unknot.Trace, index: int) -> list[Item]:
    """One item's draws as the trace has them."""
    found = {n: q[n].value.argmax(-1) if q[n].event_dims else q[n].value for n in q}
    return [{n: int(v[s, index]) for n, v in found.items()} for s in range(q.leading_shape[0])]


@pytest.mark.parametrize("family", ["categorical", "one_hot"])
@pytest.mark.parametrize("seed", GRAPHS)
def test_drawn_sites_equal_the_equations_draw_by_draw(seed: int, family: str) -> None:
    torch.manual_seed(seed)
    model = random_model(seed)
    with torch.no_grad():
        way = "straight_through" if family == "one_hot" and seed % 2 else "score_function"
        q, p = model.run(way, samples=1 + seed % 3, family=family)
        fast = semi_supervised(q, p, alpha=ALPHA).per_item
        bound = importance_weighted(q, p, alpha=ALPHA).per_item
        twin = by_item(model, lambda i: slow.equation_8(model, i, draws_of(q, i), ALPHA))
        other = by_item(model, lambda i: slow.equation_9(model, i, draws_of(q, i), ALPHA))
    torch.testing.assert_close(fast, twin, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(bound, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("objective", ["semi_supervised", "importance_weighted"])
@pytest.mark.parametrize("seed", [3, 11, 20])
def test_score_function_gradients_are_those_of_the_expectation(seed: int, objective: str) -> None:
    """20,000 independent copies of the first item, two draws each, against all pairs of draws."""
    torch.manual_seed(seed)
    model, count = random_model(seed), 20_000
    equation, fast = {
        "semi_supervised": (slow.equation_8, semi_supervised),
        "importance_weighted": (slow.equation_9, importance_weighted),
    }[objective]
    expected = slow.expected_over_draws(equation, model, 0, 2, ALPHA)
    slopes = torch.autograd.grad(expected, list(model.q_logits.values()), materialize_grads=True)
    copies = {n: t.detach()[..., :1, :].expand(*t.shape[:-2], count, -1) for n, t in model.q_logits.items()}
    model.q_logits = {n: t.clone().requires_grad_() for n, t in copies.items()}
    model.psi = {n: psi.detach()[:1].expand(count, -1) for n, psi in model.psi.items()}
    model.x_logits, model.items = (
        model.x_logits.detach()[..., :1].expand(*model.x_logits.shape[:-1], count),
        count,
    )
    q, p = model.run("score_function", samples=2)
    own = list(model.q_logits.values())
    found = torch.autograd.grad(fast(q, p, alpha=ALPHA).per_item.sum(), own, materialize_grads=True)
    for one, slope in zip(found, slopes, strict=True):
        assert_mean(one.movedim(-2, 0).reshape(count, -1), slope[..., 0, :].reshape(-1))


# ---- laws, for every way that a site can be drawn

ORDERS = ["z -> y", "y -> z"]
WAYS = {
    "categorical": ["score_function", "enumerate"],
    "one_hot": ["straight_through", "plug_in", "detached"],
    "concrete": ["concrete", "straight_through", "plug_in", "enumerate"],
}
SITES = [(family, way) for family, ways in WAYS.items() for way in ways]
LABELS = torch.tensor([2, -1, 0, 1])


class Model(torch.nn.Module):
    """A class y of four items and a number z, in either order; three samples."""

    def __init__(self, family: str, way: str, order: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.family, self.way, self.order = family, way, order
        self.logits = torch.nn.Parameter(torch.randn(4, 3, dtype=torch.float64))
        self.loc = torch.nn.Parameter(torch.randn(4, dtype=torch.float64))
        self.by_class = torch.nn.Parameter(torch.randn(3, dtype=torch.float64))
        self.prior = torch.nn.Parameter(torch.randn(3, dtype=torch.float64))

    def _class(self, trace: unknot.Trace, logits: Tensor, **how: object) -> Tensor:
        """A vector of the class, with the site's gradient."""
        if self.family == "concrete":
            return trace.concrete(logits, 0.5, name="y", event_dims=1, **how)  # type: ignore[arg-type]
        if self.family == "one_hot":
            return trace.one_hot_categorical(logits=logits, name="y", event_dims=1, **how)  # type: ignore[arg-type]
        index = trace.categorical(logits=logits, name="y", event_dims=0, **how)  # type: ignore[arg-type]
        return torch.nn.functional.one_hot(index, 3).double()

    def run(self, value: object) -> tuple[unknot.Trace, unknot.Trace]:
        torch.manual_seed(1)
        q, p = unknot.Trace(samples=3), unknot.Trace()
        one = torch.ones((), dtype=torch.float64)
        if self.order == "y -> z":
            y = self._class(q, self.logits, value=value, gradient=self.way)
            z = q.normal(self.loc + y @ self.by_class, one, name="z", event_dims=0)
        else:
            z = q.normal(self.loc, one, name="z", event_dims=0)
            y = self._class(q, self.logits * z.unsqueeze(-1), value=value, gradient=self.way)
        prior = self.prior if self.order == "y -> z" else self.prior * z.unsqueeze(-1)
        self._class(p, prior, value=q["y"])
        p.normal(torch.zeros(4, dtype=torch.float64), one, value=q["z"], name="z")
        p.normal(z + y @ self.by_class.exp(), one, value=torch.ones(4, dtype=torch.float64), name="x")
        return q, p


Objective = Callable[[unknot.Trace, unknot.Trace], Tensor]
OBJECTIVES: dict[str, Objective] = {
    "semi_supervised": lambda q, p: semi_supervised(q, p, alpha=ALPHA, gamma=2.0).per_item,
    "discrete divergence": lambda q, p: semi_supervised(q, p, alpha=ALPHA, relaxed_kl="discrete").per_item,
    "classes": lambda q, p: semi_supervised(q, p, information={"y": -2.0}, marginal={"y": 4.0}).per_item,
    "importance_weighted": lambda q, p: importance_weighted(q, p, alpha=ALPHA).per_item,
    "supervised": lambda q, p: supervised(q, p, alpha=ALPHA).per_item,
    "elbo": lambda q, p: elbo(q, p).per_item,
    "analytic": lambda q, p: elbo(q, p, analytic=True).per_item,
}


def results(model: Model, value: object, objective: Objective) -> list[Tensor]:
    """The objective of each item and the gradient of its sum."""
    values = objective(*model.run(value))
    found = torch.autograd.grad(values.sum(), list(model.parameters()), materialize_grads=True)
    return [values.detach(), *found]


def cases(test: Callable[..., None]) -> Callable[..., None]:
    for name, values in (("objective", OBJECTIVES), ("order", ORDERS), ("site", SITES)):
        test = pytest.mark.parametrize(name, values)(test)
    return test


def skip_unfit(site: tuple[str, str], order: str, objective: str) -> None:
    if objective == "classes" and order == "z -> y":
        pytest.skip("the masses of a class are exact where it is read from x alone")


def assert_same_bits(one: list[Tensor], other: list[Tensor]) -> None:
    """Values to the last bit; gradients of tables that items share, which are sums over items, to rounding."""
    assert torch.equal(one[0], other[0]), (one[0] - other[0]).abs().max()
    for mine, theirs in zip(one[1:], other[1:], strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-13)


@cases
def test_a_point_is_a_label_to_the_last_bit(site: tuple[str, str], order: str, objective: str) -> None:
    skip_unfit(site, order, objective)
    model = Model(*site, order)
    labels = results(model, unknot.partial(LABELS), OBJECTIVES[objective])
    mask = torch.nn.functional.one_hot(LABELS.clamp(min=0), 3).bool() | (LABELS < 0)[:, None]
    identity = torch.eye(3, dtype=torch.float64)
    for given in (unknot.partial(allowed=mask), unknot.partial(LABELS, confusion=identity)):
        assert_same_bits(results(model, given, OBJECTIVES[objective]), labels)


@cases
def test_evidence_that_allows_everything_is_none_to_the_last_bit(
    site: tuple[str, str], order: str, objective: str
) -> None:
    skip_unfit(site, order, objective)
    model = Model(*site, order)
    nothing = results(model, unknot.partial(torch.full((4,), -1)), OBJECTIVES[objective])
    ones = unknot.partial(probabilities=torch.ones(4, 3, dtype=torch.float64))
    assert_same_bits(results(model, ones, OBJECTIVES[objective]), nothing)


@pytest.mark.parametrize("seed", GRAPHS)
def test_relaxed_sites_equal_their_equation_draw_by_draw(seed: int) -> None:
    torch.manual_seed(seed)
    model = random_model(seed)
    q, p = model.run("concrete", samples=1 + seed % 3, family="concrete")
    fast = semi_supervised(q, p, alpha=ALPHA).per_item
    with torch.no_grad():
        for i in range(model.items):
            unbounded = [{n: q[n].unbounded[s, i] for n in q} for s in range(q.leading_shape[0])]
            twin = slow.equation_8_relaxed(model, i, draws_of(q, i), unbounded, ALPHA)
            torch.testing.assert_close(fast[i], twin, rtol=1e-10, atol=1e-10)


WEIGHTS = torch.tensor(
    [[0.2, 0.0, 0.7], [0.5, 0.9, 0.3], [0.0, 0.4, 0.0], [1.0, 1.0, 1.0]], dtype=torch.float64
)


@cases
def test_scaling_evidence_adds_a_constant(site: tuple[str, str], order: str, objective: str) -> None:
    """log c once for the bound and α times for the classifier, all twice with γ = 2; nothing without evidence."""
    skip_unfit(site, order, objective)
    constants = {
        "elbo": 1.0, "analytic": 1.0, "supervised": ALPHA, "classes": 2.0, "semi_supervised": 2 * (1 + ALPHA)
    }  # fmt: skip
    model = Model(*site, order)
    one = results(model, unknot.partial(probabilities=WEIGHTS), OBJECTIVES[objective])
    other = results(model, unknot.partial(probabilities=0.25 * WEIGHTS), OBJECTIVES[objective])
    added = (
        constants.get(objective, 1 + ALPHA) * torch.tensor([0.25, 0.25, 0.25, 1.0], dtype=torch.float64).log()
    )
    torch.testing.assert_close(other[0], one[0] + added, rtol=1e-12, atol=1e-12)
    for mine, theirs in zip(one[1:], other[1:], strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("objective", sorted(OBJECTIVES.keys() - {"classes"}))
def test_permuting_the_classes_changes_nothing(objective: str) -> None:
    model, shuffled = Model("categorical", "enumerate", "z -> y"), torch.tensor([2, 0, 1])
    before = results(model, unknot.partial(probabilities=WEIGHTS), OBJECTIVES[objective])[0]
    with torch.no_grad():
        for table in (model.logits, model.by_class, model.prior):
            table.copy_(table[..., shuffled])
    after = results(model, unknot.partial(probabilities=WEIGHTS[:, shuffled]), OBJECTIVES[objective])[0]
    torch.testing.assert_close(before, after, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("family", ["one_hot", "concrete"])
def test_plug_in_is_exact_where_the_decoder_is_linear(family: str) -> None:
    """The probabilities given the evidence stand for the class, value and gradient."""
    logits = torch.randn(
        4, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    ).requires_grad_()
    slope = torch.tensor([0.3, -1.0, 2.0], dtype=torch.float64)
    found = []
    for way in ("plug_in", "enumerate"):
        q, p = unknot.Trace(), unknot.Trace()
        given = unknot.partial(probabilities=WEIGHTS)
        how = {"value": given, "name": "y", "gradient": way}
        y = (
            q.concrete(logits, 0.5, **how)
            if family == "concrete"
            else q.one_hot_categorical(logits=logits, **how)
        )
        p.one_hot_categorical(logits=slope, value=q["y"], name="y") if family == "one_hot" else p.concrete(
            slope, 0.5, value=q["y"], name="y"
        )
        p.log_term(y @ slope, name="x")
        values = semi_supervised(q, p, alpha=ALPHA).per_item
        found.append((values, *torch.autograd.grad(values.sum(), logits)))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


def test_items_with_evidence_count_as_labeled() -> None:
    model = Model("categorical", "enumerate", "y -> z")
    given = unknot.partial(probabilities=WEIGHTS)
    once, thrice = (
        semi_supervised(*model.run(given), alpha=ALPHA, gamma=gamma).per_item for gamma in (1.0, 3.0)
    )
    torch.testing.assert_close(thrice, once * torch.tensor([3.0, 3.0, 3.0, 1.0], dtype=torch.float64))


def test_a_weight_for_each_site_takes_evidence_apart_by_the_chain_rule() -> None:
    for seed in GRAPHS[:16]:
        model = random_model(seed)
        whole = semi_supervised(*model.run("enumerate"), alpha=ALPHA).per_item
        q, p = model.run("enumerate")
        parts = semi_supervised(q, p, alpha=dict.fromkeys(q, ALPHA)).per_item
        torch.testing.assert_close(parts, whole, rtol=1e-10, atol=1e-10)


# ---- chains, posteriors, masks


def chain(psi: Tensor, logits: Tensor, gradient: str = "enumerate") -> tuple[unknot.Trace, unknot.Trace]:
    """A chain of classes with evidence on each of them: psi (T, B, K)."""
    q, p = unknot.Trace(), unknot.Trace()
    state = None
    for t in q.markov(range(len(psi)), name="s"):
        here = logits[0].expand(psi.shape[1], -1) if state is None else logits[1:][state]
        given = unknot.partial(probabilities=psi[t])
        state = q.categorical(logits=here, value=given, name="k", gradient=gradient, event_dims=0)
    state = None
    for t in p.markov(range(len(psi)), name="s"):
        here = torch.zeros_like(logits[0]) if state is None else logits[1:].flip(0)[state]
        state = p.categorical(logits=here, value=q[f"s[{t}].k"], name="k")
        p.log_term((state.double() + 1) * 0.1 * (t + 1), name="x")
    return q, p


def chain_by_sums(psi: Tensor, logits: Tensor, i: int) -> dict[str, Tensor]:
    steps, _, classes = psi.shape
    log_q, log_p, log_psi = [], [], []
    paths = list(itertools.product(range(classes), repeat=steps))
    for path in paths:
        mine, theirs, evidence = [], [], []
        for t, k in enumerate(path):
            row = logits[0] if t == 0 else logits[1:][path[t - 1]]
            other = torch.zeros_like(logits[0]) if t == 0 else logits[1:].flip(0)[path[t - 1]]
            mine.append(row.log_softmax(-1)[k])
            theirs.append(other.log_softmax(-1)[k] + (k + 1) * 0.1 * (t + 1))
            evidence.append(psi[t, i, k].log())
        log_q.append(sum(mine)), log_p.append(sum(theirs)), log_psi.append(sum(evidence))
    q, p, e = (torch.stack(logs) for logs in (log_q, log_p, log_psi))
    label = (q + e).logsumexp(0)
    share = (q + e - label).exp()
    posterior = (p + e).softmax(0)
    states = torch.tensor(paths)
    marginal = torch.stack([posterior[states[:, 1] == k].sum() for k in range(classes)])
    return {
        "eq4": (share * torch.where(share > 0, p - q, 0.0)).sum() + (1 + ALPHA) * label,
        "eq9": (p + e).logsumexp(0) + ALPHA * label,
        "marginal": marginal,
    }


@pytest.mark.parametrize("classes", [2, 3])
def test_evidence_inside_a_chain(classes: int) -> None:
    torch.manual_seed(classes)
    logits = torch.randn(classes + 1, classes, dtype=torch.float64)
    psi = torch.rand(4, 2, classes, dtype=torch.float64)
    psi[1, 0], psi[2, 0, 0], psi[3, 1] = 1.0, 0.0, torch.eye(classes)[-1].double()
    q, p = chain(psi, logits)
    exact = [chain_by_sums(psi, logits, i) for i in range(2)]
    for name, objective in (("eq4", semi_supervised), ("eq9", importance_weighted)):
        expected = torch.stack([one[name] for one in exact])
        torch.testing.assert_close(objective(q, p, alpha=ALPHA).per_item, expected, rtol=1e-10, atol=1e-10)
    marginal = unknot.infer_discrete(q, p)["s[1].k"]
    torch.testing.assert_close(marginal, torch.stack([one["marginal"] for one in exact]))


def test_impossible_values_of_an_enumerated_site_are_not_counted() -> None:
    """q rules out a class by a logit of -inf: Eq. 9 sums over the others."""
    q, p = unknot.Trace(), unknot.Trace()
    k = q.categorical(logits=torch.tensor([[0.0, -torch.inf]]), gradient="enumerate", name="k")
    p.categorical(logits=torch.zeros(2), value=q["k"], name="k")
    p.normal(k.float(), 1.0, value=torch.zeros(1), name="x")
    expected = torch.tensor(0.5).log() + torch.distributions.Normal(0.0, 1.0).log_prob(torch.zeros(()))
    torch.testing.assert_close(importance_weighted(q, p).per_item[0], expected)


def test_items_that_are_switched_off_have_no_evidence() -> None:
    logits = torch.zeros(2, 3, requires_grad=True)
    active = torch.tensor([True, False])
    q, p = unknot.Trace(), unknot.Trace()
    given = unknot.partial(probabilities=[[0.1, 0.2, 0.9]] * 2)
    with q.where(active):
        q.categorical(logits=logits, value=given, name="y", gradient="enumerate")
    with p.where(active):
        p.categorical(logits=torch.zeros(3), value=q["y"], name="y")
    values = semi_supervised(q, p).per_item
    values.sum().backward()
    assert values[1] == 0
    assert logits.grad[1].eq(0).all()
    torch.testing.assert_close(values[0], 2 * torch.tensor(0.4).log())


def test_evidence_about_data_is_its_probability() -> None:
    """A censored outcome: log P(y > low) takes the place of the density in the reconstruction."""
    q, p = unknot.Trace(), unknot.Trace()
    z = q.normal(torch.zeros(2), 1.0, name="z")
    p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
    p.normal(
        z,
        2.0,
        value=unknot.partial(low=torch.tensor([0.5, 1.0]), high=torch.tensor([torch.inf, 1.0])),
        name="y",
    )
    normal = torch.distributions.Normal(z, 2.0)
    expected = torch.stack(
        [(1 - normal.cdf(torch.tensor(0.5)))[0].log(), normal.log_prob(torch.tensor(1.0))[1]]
    )
    for objective in (elbo, semi_supervised):
        torch.testing.assert_close(objective(q, p)["reconstruction"], expected)


# ---- numbers

LOW = torch.tensor([[0.2, -0.5], [-torch.inf, 0.1], [-torch.inf, -torch.inf]], dtype=torch.float64)
HIGH = torch.tensor([[torch.inf, 0.7], [0.3, 0.4], [torch.inf, torch.inf]], dtype=torch.float64)
MEASURED = torch.tensor([[0.3, -0.2], [1.5, 0.1], [torch.nan, 0.0]], dtype=torch.float64)
ERROR = torch.tensor([0.5, 0.1], dtype=torch.float64)
NUMBERS = {
    "interval": unknot.partial(low=LOW, high=HIGH),
    "measurement": unknot.partial(MEASURED, scale=ERROR),
}


def numbers(order: str, given: unknot.Partial, samples: int) -> tuple[unknot.Trace, unknot.Trace]:
    """Three items, of which u and v are vectors of two; v has evidence and comes first or second in q."""
    q, p = unknot.Trace(samples=samples), unknot.Trace()
    loc = torch.linspace(-1.0, 1.0, 6, dtype=torch.float64).reshape(3, 2)
    one = torch.ones((), dtype=torch.float64)
    before = None
    for name in ("u", "v") if order == "u -> v" else ("v", "u"):
        here = loc if before is None else loc - 0.5 * before
        before = q.normal(here, 0.8 * one, value=given if name == "v" else None, name=name, event_dims=1)
    v = p.normal(0 * loc, one, value=q["v"], name="v")
    u = p.normal(0.3 * v, one, value=q["u"], name="u")
    p.normal(u + v, 2 * one, value=loc, name="x")
    return q, p


@pytest.mark.parametrize("order", ["u -> v", "v -> u"])
@pytest.mark.parametrize("kind", NUMBERS)
def test_evidence_about_numbers_equals_the_equations_draw_by_draw(kind: str, order: str) -> None:
    torch.manual_seed(0)
    q, p = numbers(order, NUMBERS[kind], samples=4)
    u, v = q["u"].value, q["v"].value  # (S, B, 2)
    normal = torch.distributions.Normal
    loc = torch.linspace(-1.0, 1.0, 6, dtype=torch.float64).reshape(3, 2)
    at_v, at_u = (loc - 0.5 * u, loc) if order == "u -> v" else (loc, loc - 0.5 * v)
    at_v = at_v.expand(4, 3, 2)
    log_q = (normal(at_v, 0.8).log_prob(v) + normal(at_u, 0.8).log_prob(u)).sum(-1)
    log_p = normal(0.0, 1.0).log_prob(v) + normal(0.3 * v, 1.0).log_prob(u) + normal(u + v, 2.0).log_prob(loc)
    if kind == "interval":
        assert bool(((v >= LOW) & (v <= HIGH)).all())
        weight = (normal(at_v, 0.8).cdf(HIGH) - normal(at_v, 0.8).cdf(LOW)).log().sum(-1)
    else:
        weight = normal(at_v, (0.64 + ERROR**2).sqrt()).log_prob(MEASURED.nan_to_num()).sum(-1)
        weight[:, 2] = 0.0
    ratio = log_p.sum(-1) - log_q
    share = weight.softmax(0)
    expected = (share * ratio).sum(0) + (1 + ALPHA) * weight.mean(0)
    torch.testing.assert_close(semi_supervised(q, p, alpha=ALPHA).per_item, expected)
    bound = (
        (ratio + weight).logsumexp(0)
        - torch.tensor(4.0).log()
        + ALPHA * (weight.logsumexp(0) - torch.tensor(4.0).log())
    )
    torch.testing.assert_close(importance_weighted(q, p, alpha=ALPHA).per_item, bound)


@pytest.mark.parametrize("objective", [elbo, semi_supervised, importance_weighted])
@pytest.mark.parametrize("order", ["u -> v", "v -> u"])
def test_numbers_without_evidence_are_drawn_and_scored_as_ever(order: str, objective: Callable) -> None:
    found = []
    nothing = unknot.partial(low=torch.full((3, 2), -torch.inf, dtype=torch.float64))
    for given in (nothing, unknot.partial(torch.full((3, 2), torch.nan, dtype=torch.float64))):
        torch.manual_seed(1)
        found.append(objective(*numbers(order, given, samples=3)).per_item)
    torch.testing.assert_close(*found, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("order", ["u -> v", "v -> u"])
def test_exact_numbers_given_as_intervals_are_labels(order: str) -> None:
    found = []
    for given in (
        unknot.partial(low=MEASURED.nan_to_num(), high=MEASURED.nan_to_num()),
        unknot.partial(MEASURED.nan_to_num()),
    ):
        torch.manual_seed(1)
        found.append(semi_supervised(*numbers(order, given, samples=3), alpha=ALPHA).per_item)
    torch.testing.assert_close(*found, rtol=1e-14, atol=1e-14)


# ---- modes of running


def small(given: unknot.Partial, logits: Tensor, way: str) -> Tensor:
    q, p = unknot.Trace(), unknot.Trace()
    y = q.concrete(logits, 0.5, value=given, name="y", gradient=way)
    q.normal(y.sum(-1), 1.0, value=unknot.partial(low=torch.tensor([0.0, -torch.inf, 1.0, 2.0])), name="z")
    p.concrete(torch.zeros(3), 0.5, value=q["y"], name="y")
    p.normal(torch.zeros(4), 1.0, value=q["z"], name="z")
    return semi_supervised(q, p, alpha=ALPHA).loss


@pytest.mark.parametrize("way", ["concrete", pytest.param("enumerate", marks=pytest.mark.slow)])
def test_compiled_without_gradients_and_under_autocast(way: str) -> None:
    logits = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    given = unknot.partial(probabilities=WEIGHTS.float())

    def run(function: Callable[..., Tensor]) -> Tensor:
        torch.manual_seed(2)
        return function(given, logits, way)

    eager = run(small)
    torch.testing.assert_close(run(torch.compile(small, backend="eager", fullgraph=way == "concrete")), eager)
    with torch.no_grad():
        torch.testing.assert_close(run(small), eager)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(run(small), eager, rtol=1e-2, atol=1e-2)


# ---- the decomposition and its weights

FREE: dict = {"parents": {"y": [], "z": []}, "prior_parents": {}}
DECOMPOSED: dict[str, Objective] = {
    "decompose": lambda q, p: decompose(q, p, 40, **FREE).per_item,
    "terms": lambda q, p: torch.stack(list(decompose(q, p, 40, **FREE).values())),
    "weights": lambda q, p: semi_supervised(
        q, p, alpha=ALPHA, between=4.0, information={"z": 2.0}, within=3.0, dataset_size=40, **FREE
    ).per_item,
    "pair": lambda q, p: semi_supervised(q, p, between={"y, z": 4.0}, dataset_size=40, **FREE).per_item,
    "hfvae": lambda q, p: hfvae(q, p, dataset_size=40, **FREE).per_item,
}  # fmt: skip


class Independent(Model):
    """A class y and a number z, both read from x alone."""

    def run(self, value: object) -> tuple[unknot.Trace, unknot.Trace]:
        torch.manual_seed(1)
        q, p = unknot.Trace(samples=3), unknot.Trace()
        one = torch.ones((), dtype=torch.float64)
        y = self._class(q, self.logits, value=value, gradient=self.way)
        z = q.normal(self.loc, one, name="z", event_dims=0)
        self._class(p, self.prior, value=q["y"])
        p.normal(torch.zeros(4, dtype=torch.float64), one, value=q["z"], name="z")
        p.normal(z + y @ self.by_class.exp(), one, value=torch.ones(4, dtype=torch.float64), name="x")
        return q, p


@pytest.mark.parametrize("objective", [name for name in DECOMPOSED if name != "terms"])
@pytest.mark.parametrize("site", SITES)
def test_points_and_nothing_in_the_decomposition(site: tuple[str, str], objective: str) -> None:
    model = Independent(*site, "")
    mask = torch.nn.functional.one_hot(LABELS.clamp(min=0), 3).bool() | (LABELS < 0)[:, None]
    ones = unknot.partial(probabilities=torch.ones(4, 3, dtype=torch.float64))
    pairs = [
        (unknot.partial(allowed=mask), unknot.partial(LABELS)),
        (ones, unknot.partial(torch.full((4,), -1))),
    ]
    for given, expected in pairs:
        mine, theirs = (results(model, one, DECOMPOSED[objective]) for one in (given, expected))
        for one, other in zip(mine, theirs, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("site", SITES)
def test_the_decomposition_adds_up_to_the_elbo(site: tuple[str, str]) -> None:
    model, given = Independent(*site, ""), unknot.partial(probabilities=WEIGHTS)
    whole = results(model, given, OBJECTIVES["elbo"])
    parts = results(model, given, DECOMPOSED["decompose"])
    assert bool(torch.stack([one.isfinite().all() for one in parts]).all())
    for mine, theirs in zip(parts, whole, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("site", SITES)
def test_a_term_with_little_evidence_tends_to_the_term_without(site: tuple[str, str]) -> None:
    """Nearly equal weights: every term is nearly that of an unlabeled item, whatever it is scored by."""
    model = Independent(*site, "")
    nearly = torch.ones(4, 3, dtype=torch.float64)
    nearly[:, 0] -= 1e-7
    mine, theirs = (
        DECOMPOSED["terms"](*model.run(given))
        for given in (unknot.partial(probabilities=nearly), unknot.partial(torch.full((4,), -1)))
    )
    torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)


def test_relaxed_evidence_with_dependent_variables_is_refused() -> None:
    model = Model("concrete", "concrete", "y -> z")
    q, p = model.run(unknot.partial(probabilities=WEIGHTS))
    with pytest.raises(SpecError, match="site 'y' is relaxed, has evidence on its classes"):
        decompose(q, p, 40, parents={"y": [], "z": ["y"]}, prior_parents={})


@pytest.mark.parametrize("site", [("categorical", "enumerate"), ("concrete", "enumerate")])
def test_the_decomposition_of_dependent_variables(site: tuple[str, str]) -> None:
    """z depends on an enumerated class: points are labels, nothing is nothing, and the terms add up to the ELBO."""
    model = Model(*site, "y -> z")
    parents = {"parents": {"y": [], "z": ["y"]}, "prior_parents": {}}

    def terms(value: object) -> list[Tensor]:
        return results(model, value, lambda q, p: decompose(q, p, 40, **parents).per_item)

    whole = results(model, unknot.partial(probabilities=WEIGHTS), OBJECTIVES["elbo"])
    mask = torch.nn.functional.one_hot(LABELS.clamp(min=0), 3).bool() | (LABELS < 0)[:, None]
    for mine, theirs in (
        (terms(unknot.partial(probabilities=WEIGHTS)), whole),
        (terms(unknot.partial(allowed=mask)), terms(unknot.partial(LABELS))),
    ):
        for one, other in zip(mine, theirs, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_information_and_correlation_of_classes_with_evidence_by_loops() -> None:
    """Enumerated class, all items weighted alike (naive estimator): log q(y) is the encoder's mean over items."""
    model = Independent("categorical", "enumerate", "")
    q, p = model.run(unknot.partial(probabilities=WEIGHTS))
    found = decompose(q, p, 4, estimator="naive", **FREE)
    log_q = model.logits.log_softmax(-1)  # (B, K)
    given = (log_q.exp() * WEIGHTS) / (log_q.exp() * WEIGHTS).sum(-1, keepdim=True)
    z, loc = q["z"].value, model.loc  # (S, B)
    density = torch.distributions.Normal(loc, 1.0).log_prob(z[..., None])  # (S, B, C)
    information = torch.zeros(4, dtype=torch.float64)
    for b in range(4):
        for k in range(3):
            if given[b, k] == 0:
                continue
            joint = (density[:, b] + log_q[:, k]).logsumexp(-1) - torch.tensor(4.0).log()
            own = density[:, b, b] + given[b, k].log()
            information[b] = information[b] + given[b, k] * (joint - own).mean()
    torch.testing.assert_close(found["mutual_information"], information)


@pytest.mark.parametrize("kind", NUMBERS)
def test_the_decomposition_with_evidence_about_numbers(kind: str) -> None:
    torch.manual_seed(0)
    q, p = unknot.Trace(samples=3), unknot.Trace()
    loc = torch.linspace(-1.0, 1.0, 6, dtype=torch.float64).reshape(3, 2).requires_grad_()
    one = torch.ones((), dtype=torch.float64)
    q.normal(loc, one, value=NUMBERS[kind], name="v", event_dims=1)
    p.normal(torch.zeros_like(loc), one, value=q["v"], name="v")
    p.normal(q["v"].value, one, value=torch.ones_like(loc), name="x")
    terms = decompose(q, p, 40, groups={"v": ["v"]})
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)
    assert bool(torch.stack(list(terms.values())).isfinite().all())
    hfvae(q, p, dataset_size=40).loss.backward()
    assert bool(loc.grad.isfinite().all())
