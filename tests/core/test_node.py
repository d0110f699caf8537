"""Nodes and their log-probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.distributions import Bernoulli, Distribution, Independent, Laplace, Normal, OneHotCategorical

import unknot
from tests.references import log_prob as slow
from unknot.core.node import item_log_prob

# ---- node.log_prob equals a slow loop over items, for every mixture of shapes, masks and ways to a value.


CLASSES = 4
Shape = tuple[int, ...]

leadings = st.sampled_from(["none", "scalar", "batch", "ones", "full"])
batches = st.integers(1, 3)
sample_counts = st.one_of(st.none(), st.integers(1, 3))
events = st.sampled_from([(), (5,), (5, 6)])


def shaped(kind: str, samples: int | None, batch: int, event: Shape) -> Shape:
    """The shape of a parameter that has some of the leading axes, or none, or is a number."""
    full = (batch,) if samples is None else (samples, batch)
    return {
        "none": event,
        "scalar": (),
        "batch": (batch, *event),
        "ones": (1,) * len(full) + event,
        "full": full + event,
    }[kind]


def positive(shape: Shape) -> Tensor:
    return torch.rand(shape) + 0.5


# family -> (parameters from their two shapes, the slow formula of one element)
ELEMENTWISE: dict[str, tuple[Callable[[Shape, Shape], dict[str, Tensor]], slow.Elements]] = {
    "normal": (lambda a, b: {"loc": torch.randn(a), "scale": positive(b)}, slow.normal),
    "bernoulli": (lambda a, b: {"logits": torch.randn(a)}, slow.bernoulli),
    "poisson": (lambda a, b: {"rate": positive(a)}, slow.poisson),
}


@pytest.mark.parametrize("family", ELEMENTWISE)
@given(sample_counts, batches, events, leadings, leadings)
def test_reused_values_of_elementwise_families(
    family: str, samples: int | None, batch: int, event: Shape, first: str, second: str
) -> None:
    make, formula = ELEMENTWISE[family]
    own = make((batch, *event), (batch, *event))
    q, p = unknot.Trace(samples), unknot.Trace()
    value = getattr(q, family)(**own, name="z", event_dims=len(event))
    theirs = make(shaped(first, samples, batch, event), shaped(second, samples, batch, event))
    getattr(p, family)(**theirs, value=q["z"], name="z")

    leading = (batch,) if samples is None else (samples, batch)
    assert value.shape == leading + event
    for trace, parameters in [(q, own), (p, theirs)]:
        expected = slow.per_item(formula, value, {n: (t, 0) for n, t in parameters.items()}, leading, event)
        assert trace["z"].log_prob.shape == leading
        torch.testing.assert_close(trace["z"].log_prob.double(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", ELEMENTWISE)
@given(sample_counts, batches, events)
def test_data_without_samples_under_parameters_with_samples(
    family: str, samples: int | None, batch: int, event: Shape
) -> None:
    """x is (B, event), its parameters (S, B, event): the usual decoder."""
    make, formula = ELEMENTWISE[family]
    leading = (batch,) if samples is None else (samples, batch)
    parameters = make(leading + event, leading + event)
    x = torch.randint(0, 2, (batch, *event)).float()
    p = unknot.Trace()
    getattr(p, family)(**parameters, value=x, name="x")
    expected = slow.per_item(formula, x, {n: (t, 0) for n, t in parameters.items()}, leading, event)
    torch.testing.assert_close(p["x"].log_prob.double(), expected, rtol=1e-4, atol=1e-4)


@given(sample_counts, batches, leadings.filter(lambda kind: kind != "scalar"))
def test_vector_families(samples: int | None, batch: int, kind: str) -> None:
    leading = (batch,) if samples is None else (samples, batch)
    shape = shaped(kind, samples, batch, (CLASSES,))
    logits, concentration = torch.randn(shape), positive(shape)
    root = torch.randn(*shape, CLASSES)
    covariance = root @ root.mT + torch.eye(CLASSES)

    q = unknot.Trace(samples)
    q.categorical(logits=torch.randn(batch, CLASSES), name="k")
    q.one_hot_categorical(logits=torch.randn(batch, CLASSES), name="o")
    q.dirichlet(positive((batch, CLASSES)), name="d")
    q.multivariate_normal(torch.randn(batch, CLASSES), torch.eye(CLASSES), name="m")
    p = unknot.Trace()
    p.categorical(logits=logits, value=q["k"], name="k")
    p.one_hot_categorical(logits=logits, value=q["o"], name="o")
    p.dirichlet(concentration, value=q["d"], name="d")
    p.multivariate_normal(torch.randn(shape), covariance, value=q["m"], name="m")

    def compare(name: str, formula: slow.Elements, **parameters: tuple[Tensor, int]) -> None:
        expected = slow.per_item(formula, q[name].value, parameters, leading, ())
        torch.testing.assert_close(p[name].log_prob.double(), expected, rtol=1e-3, atol=1e-3)

    compare("k", slow.categorical, logits=(logits, 1))
    compare("o", slow.concrete_mass, logits=(logits, 1))
    compare("d", slow.dirichlet, concentration=(concentration, 1))
    compare("m", slow.multivariate_normal, loc=(p["m"].dist.loc, 1), covariance=(covariance, 2))


@given(
    sample_counts,
    batches,
    leadings.filter(lambda kind: kind != "scalar"),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.sampled_from(["concrete", "straight_through", "plug_in", "score_function"]),
    st.sampled_from([(), (2,)]),
)
def test_partly_known_concrete(
    samples: int | None, batch: int, kind: str, flags: list[bool], gradient: str, event: Shape
) -> None:
    """Labels by their mass, draws by the density of u (soft draws) or the mass (all others)."""
    temperature = 0.7
    leading = (batch,) if samples is None else (samples, batch)
    known = torch.tensor(flags[:batch])
    labels = torch.randint(0, CLASSES, (batch, *event))
    q, p = unknot.Trace(samples), unknot.Trace()
    own = torch.randn(batch, *event, CLASSES)
    observation = unknot.partial(labels, known)
    dims = {"event_dims": 1 + len(event)}
    value = q.concrete(own, temperature, value=observation, name="y", gradient=gradient, **dims)
    prior = torch.randn(shaped(kind, samples, batch, (*event, CLASSES)))
    p.concrete(prior, temperature, value=q["y"], name="y")

    assert value.shape == (*leading, *event, CLASSES)
    one_hot = torch.nn.functional.one_hot(labels, CLASSES).float().expand(value.shape)
    torch.testing.assert_close(
        value[..., known, :] if not event else value[..., known, :, :],
        one_hot[..., known, :] if not event else one_hot[..., known, :, :],
    )
    for trace, logits in [(q, own), (p, prior)]:
        expected = slow.per_item(slow.concrete_mass, value, {"logits": (logits, 1)}, leading, event)
        if gradient == "concrete":
            tau = torch.tensor(temperature)
            density = slow.per_item(
                slow.concrete_density,
                q["y"].unbounded,
                {"logits": (logits, 1), "temperature": (tau, 0)},
                leading,
                event,
            )
            expected = torch.where(known, expected, density)
        torch.testing.assert_close(trace["y"].log_prob.double(), expected, rtol=1e-3, atol=1e-3)
    assert q["y"].scored_by == p["y"].scored_by == ("density" if gradient == "concrete" else "mass")


@given(sample_counts, batches, st.lists(st.booleans(), min_size=9, max_size=9), st.booleans(), events)
def test_where_masks(
    samples: int | None, batch: int, flags: list[bool], per_draw: bool, event: Shape
) -> None:
    leading = (batch,) if samples is None else (samples, batch)
    shape = leading if per_draw else (batch,)
    active = torch.tensor(flags[: torch.Size(shape).numel()]).reshape(shape)
    loc = torch.randn((batch, *event), requires_grad=True)
    q = unknot.Trace(samples)
    with q.where(active):
        value = q.normal(loc, positive((batch, *event)), name="z", event_dims=len(event))
    free = slow.per_item(
        slow.normal, value, {"loc": (loc, 0), "scale": (q["z"].dist.scale, 0)}, leading, event
    )
    expected = torch.where(active.expand(leading), free, 0.0)
    torch.testing.assert_close(q["z"].log_prob.double(), expected, rtol=1e-4, atol=1e-4)
    assert bool((q["z"].log_prob[~active.expand(leading)] == 0).all())


@given(sample_counts, batches, st.booleans())
def test_enumerated_sites(samples: int | None, batch: int, one_hot: bool) -> None:
    """Two enumerated sites and a draw that depends on both: each entry is scored on its own."""
    first, second = torch.randn(batch, 3), torch.randn(3, CLASSES)
    q = unknot.Trace(samples)
    a = q.categorical(logits=first, name="a", gradient="enumerate")  # (3, 1, 1)
    b = q.concrete(second[a], 0.5, name="b", gradient="enumerate")  # (4, 1, 1, 1, 4)
    loc = b.sum(-1) * a + b[..., 0]
    z = q.normal(loc, 1.0, name="z", event_dims=0)
    drawn = 1 if samples is None else samples
    assert a.shape == (3, 1, 1)
    assert b.shape == (CLASSES, 1, 1, 1, CLASSES)
    assert z.shape == (CLASSES, 3, drawn, batch)
    for i in range(batch):
        for k in range(3):
            mine = slow.categorical(k, first[i].tolist())
            assert q["a"].log_prob[k, 0, i].item() == pytest.approx(mine, abs=1e-4)
            for j in range(CLASSES):
                theirs = slow.categorical(j, second[k].tolist())
                assert q["b"].log_prob[j, k, 0, 0].item() == pytest.approx(theirs, abs=1e-4)
                for s in range(drawn):
                    mean = k + (j == 0)
                    expected = slow.normal(z[j, k, s, i].item(), mean, 1.0)
                    assert q["z"].log_prob[j, k, s, i].item() == pytest.approx(expected, abs=1e-4)


def test_copy_keeps_the_site_and_adds_a_mask() -> None:
    q = unknot.Trace()
    q.normal(torch.zeros(3, 2), 1.0, name="z")
    twin = q["z"].renamed("other", torch.tensor([True, False, True]))
    assert twin.name == "other"
    assert twin.value is q["z"].value
    assert twin.log_prob[1] == 0
    assert q["z"].log_prob[1] != 0
    again = twin.renamed("third", torch.tensor([False, True, True]))
    assert again.active.tolist() == [False, False, True]


def test_a_reused_site_is_off_where_its_source_is() -> None:
    active = torch.tensor([True, False])
    q, p = unknot.Trace(), unknot.Trace()
    with q.where(active):
        q.normal(torch.zeros(2, 3), 1.0, name="z")
    p.normal(0.0, 1.0, value=q["z"], name="z")
    assert p["z"].log_prob[1] == 0
    assert p["z"].log_prob[0] != 0


# ---- The early sums give what dist.log_prob followed by a sum gives.


# value shape, event_dims, shapes of the parameters
SHAPES = [
    ((4, 5), 1, ((4, 5), (4, 5))),
    ((4, 5), 1, ((), ())),
    ((4, 5), 1, ((5,), ())),
    ((4, 5), 1, ((4, 5), (4, 1))),
    ((4, 5), 1, ((), (4, 1))),
    ((4, 5), 1, ((1, 5), (4, 1))),
    ((4, 5), 1, ((3, 4, 5), (4, 5))),
    ((4, 5), 1, ((3, 4, 5), (3, 4, 5))),
    ((3, 4, 5), 1, ((4, 5), (5,))),
    ((3, 1, 5), 1, ((3, 4, 5), ())),
    ((4,), 0, ((4,), ())),
    ((3, 4), 0, ((4,), (3, 4))),
    ((4,), 0, ((3, 4), (4,))),
    ((), 0, ((), ())),
    ((), 0, ((4,), (4,))),
    ((4, 5, 6), 2, ((4, 5, 6), ())),
    ((4, 5, 6), 2, ((6,), (5, 1))),
    ((4, 5, 6), 2, ((3, 4, 5, 6), (4, 1, 1))),
    ((2, 3, 4, 5), 1, ((4, 5), (2, 3, 4, 5))),
]


def summed(dist: Distribution, value: torch.Tensor, event_dims: int) -> torch.Tensor:
    log_prob = dist.log_prob(value)
    for _ in range(event_dims):
        log_prob = log_prob.sum(-1)
    return log_prob


def parameters(shapes: tuple[tuple[int, ...], ...]) -> tuple[torch.Tensor, torch.Tensor]:
    loc, scale = torch.randn(shapes[0]), torch.rand(shapes[1]) + 0.3
    return loc.requires_grad_(), scale.requires_grad_()


@pytest.mark.parametrize(("value", "event_dims", "shapes"), SHAPES)
@pytest.mark.parametrize("family", [Normal, Laplace])
def test_location_and_scale(value, event_dims, shapes, family) -> None:
    loc, scale = parameters(shapes)
    x = torch.randn(value)
    ours = item_log_prob(family(loc, scale), x, event_dims)
    theirs = summed(family(loc, scale), x, event_dims)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    for mine, reference in zip(
        torch.autograd.grad(ours.sum(), (loc, scale)),
        torch.autograd.grad(theirs.sum(), (loc, scale)),
        strict=True,
    ):
        torch.testing.assert_close(mine, reference, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("value", "event_dims", "shapes"), SHAPES)
@pytest.mark.parametrize("form", ["logits", "probs"])
def test_bernoulli(value, event_dims, shapes, form) -> None:
    logits, _ = parameters(shapes)
    dist = Bernoulli(logits=logits) if form == "logits" else Bernoulli(probs=logits.sigmoid())
    x = torch.randint(0, 2, value).float()
    ours, theirs = item_log_prob(dist, x, event_dims), summed(dist, x, event_dims)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    mine, reference = (torch.autograd.grad(t.sum(), logits, retain_graph=True)[0] for t in (ours, theirs))
    torch.testing.assert_close(mine, reference, rtol=1e-4, atol=1e-4)


def test_bernoulli_gradient_with_respect_to_the_value() -> None:
    """Straight-through and plug-in values carry gradient: d/dx log p = logits."""
    logits, x = torch.randn(4, 5), torch.rand(4, 5, requires_grad=True)
    (gradient,) = torch.autograd.grad(item_log_prob(Bernoulli(logits=logits), x, 1).sum(), x)
    torch.testing.assert_close(gradient, logits)


def test_distributions_with_events_of_their_own() -> None:
    dist = Independent(Normal(torch.zeros(4, 5, 6), 1.0), 1)  # batch (4, 5), event (6,)
    x = torch.randn(4, 5, 6)
    torch.testing.assert_close(item_log_prob(dist, x, 2), dist.log_prob(x).sum(-1))


def test_a_vector_between_the_classes_is_scored_by_the_linear_mass() -> None:
    """Σ_k y_k log π_k, entry by entry; torch would score the largest entry's class."""
    logits, value = torch.tensor([0.5, 0.0, -0.5]), torch.tensor([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]])
    weights = [math.exp(logit) for logit in logits.tolist()]
    expected = [
        sum(y * math.log(w / sum(weights)) for y, w in zip(row, weights, strict=True))
        for row in value.tolist()
    ]
    ours = item_log_prob(OneHotCategorical(logits=logits), value, 1)
    torch.testing.assert_close(ours, torch.tensor(expected))
