"""Semi-supervised objective: against loops, against exact sums, and its gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from tests.references.discrete_model import GRAPHS, OUTCOMES, VALUES, Item, item_labels, make_model
from tests.references.semi_supervised import equation_4, equation_8, equation_8_limit, expected_over_draws
from tests.statistics import assert_mean
from unknot.models import GraphicalModel, node
from unknot.objectives import decompose, elbo, semi_supervised

X = torch.tensor([0, 1, 2, 3, 1, 2])


def labels_of(graph: str) -> dict[str, unknot.Partial]:
    """Every item has observed something else: nothing, y, and where there is one v alone or both."""
    labels = {"y": unknot.partial(torch.tensor([0, -1, 2, -1, 1, 0]))}
    if graph == "two labels":
        labels["v"] = unknot.partial(torch.tensor([1, 2, -1, -1, 0, -1]))
    return labels


def draws_of(q: unknot.Trace, names: list[str], index: int) -> list[Item]:
    """One item's draws as the trace has them."""
    samples = q[names[0]].value.shape[0]
    return [{name: int(q[name].value[s, index]) for name in names} for s in range(samples)]


@pytest.mark.parametrize("graph", GRAPHS)
def test_equals_equation_8_draw_by_draw(graph: str) -> None:
    torch.manual_seed(1)
    model, labels = make_model(graph), labels_of(graph)
    q, p = model.run(X, labels, samples=5)
    terms = semi_supervised(q, p, alpha=3.0, gamma=2.0)
    for index, x in enumerate(X.tolist()):
        observed = item_labels(labels, index)
        slow = equation_8(model, x, observed, draws_of(q, model.names, index), alpha=3.0)
        expected = 2.0 * slow if observed else slow
        torch.testing.assert_close(terms.per_item[index], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("graph", GRAPHS)
def test_with_all_sites_enumerated_is_equation_4_itself(graph: str) -> None:
    model, labels = make_model(graph), labels_of(graph)
    terms = semi_supervised(*model.run(X, labels, gradient="enumerate"), alpha=3.0)
    exact = [equation_4(model, x, item_labels(labels, i), 3.0) for i, x in enumerate(X.tolist())]
    torch.testing.assert_close(terms.per_item, torch.stack(exact), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("enumerated", [(), ("z2",), ("z1",), ("z1", "y"), ("y", "z2")])
def test_converges_to_the_enumerated_value_on_a_chain(enumerated: tuple[str, ...]) -> None:
    check_limit("z1->y1->z2", enumerated)


@pytest.mark.parametrize("graph", ["z->y", "y->z", "two labels"])
def test_converges_to_the_enumerated_value(graph: str) -> None:
    check_limit(graph, ())


def check_limit(graph: str, enumerated: tuple[str, ...]) -> None:
    """Replicates of 1000 draws: the bias, of order 1/1000, stays within the allowed rounding."""
    torch.manual_seed(2)
    model, labels = make_model(graph), labels_of(graph)
    ways = {name: "enumerate" if name in enumerated else "score_function" for name in model.names}
    with torch.no_grad():
        runs = [semi_supervised(*model.run(X, labels, 1000, ways), alpha=3.0).per_item for _ in range(40)]
    limits = [
        equation_8_limit(model, x, item_labels(labels, i), 3.0, list(enumerated))
        for i, x in enumerate(X.tolist())
    ]
    assert_mean(torch.stack(runs), torch.stack(limits), rounding=2e-3)


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_mixed_batch_equals_its_items_one_by_one(graph: str) -> None:
    model, labels = make_model(graph), labels_of(graph)
    whole = semi_supervised(*model.run(X, labels, gradient="enumerate"), alpha=3.0, gamma=5.0)
    for index in range(len(X)):
        own = slice(index, index + 1)
        alone = {n: unknot.partial(part.values[own], part.known[own]) for n, part in labels.items()}
        terms = semi_supervised(*model.run(X[own], alone, gradient="enumerate"), alpha=3.0, gamma=5.0)
        for name in terms:
            torch.testing.assert_close(terms[name][0], whole[name][index])
        torch.testing.assert_close(terms.per_item[0], whole.per_item[index])


def test_without_labels_is_the_evidence_bound() -> None:
    model = make_model("z->y")
    nothing = {"y": unknot.partial(torch.full((len(X),), -1))}
    torch.manual_seed(3)
    q, p = model.run(X, nothing, samples=4)
    torch.testing.assert_close(semi_supervised(q, p, alpha=9.0, gamma=9.0).per_item, elbo(q, p).per_item)
    assert semi_supervised(*model.run(X, samples=4))["classifier"].eq(0).all()


def test_constant_weights_cancel_exactly() -> None:
    model = make_model("y->z")
    torch.manual_seed(4)
    terms = semi_supervised(*model.run(X, labels_of("y->z"), samples=7))
    assert "conditioning" not in terms
    assert terms.diagnostics["effective_samples"].eq(7).all()


def test_effective_samples_lie_between_one_and_all() -> None:
    torch.manual_seed(5)
    labels = labels_of("z->y")
    ess = semi_supervised(*make_model("z->y").run(X, labels, samples=50)).diagnostics["effective_samples"]
    known = labels["y"].known
    torch.testing.assert_close(ess[~known], torch.full((2,), 50.0, dtype=torch.float64))
    assert ess[known].gt(1).all()
    assert ess[known].lt(50).all()


def test_the_same_label_given_whole_or_in_part_counts_the_same() -> None:
    model, y = make_model("y->z"), torch.tensor([0, 1, 2, 0, 1, 2])
    whole = semi_supervised(*model.run(X, {"y": y}, gradient="enumerate"), gamma=3.0)
    part = semi_supervised(*model.run(X, {"y": unknot.partial(y)}, gradient="enumerate"), gamma=3.0)
    torch.testing.assert_close(whole.per_item, part.per_item)


def test_beta_weighs_everything_but_reconstruction_and_classifier() -> None:
    torch.manual_seed(6)
    terms = semi_supervised(*make_model("z->y").run(X, labels_of("z->y"), samples=3), alpha=2.0, beta=4.0)
    assert terms.weights == {
        "reconstruction": 1.0, "kl[z]": 4.0, "kl[y]": 4.0, "conditioning": 4.0, "classifier": 2.0
    }  # fmt: skip


def per_item_gradients(model, table: str, x: int, observed: Item, count: int, run, objective) -> Tensor:
    """Gradient of q's table for one x, from ``count`` independent items: (count, ...)."""
    rows = model.q_tables[table][x].expand(count, *model.q_tables[table].shape[1:]).clone().requires_grad_()
    others = {n: t[x].expand(count, *t.shape[1:]) for n, t in model.q_tables.items() if n != table}
    model.q_tables = others | {table: rows}
    labels = {n: unknot.partial(torch.full((count,), v)) for n, v in observed.items()}
    q, p = model.run(torch.full((count,), x), labels, rows=torch.arange(count), **run)
    objective(q, p).per_item.sum().backward()
    assert rows.grad is not None
    return rows.grad


@pytest.mark.parametrize(
    ("graph", "table"), [("z->y", "z"), ("z->y", "y"), ("two labels", "z"), ("y->z", "z")]
)
def test_score_function_gradient_is_that_of_the_expected_estimator(graph: str, table: str) -> None:
    """Two draws: their 9 (81) pairs give the exact expectation, its gradient the target."""
    torch.manual_seed(7)
    observed = {"y": 1}
    exact = make_model(graph)
    exact.q_tables[table].requires_grad_()
    expected_over_draws(equation_8, exact, 2, observed, 2, 3.0).backward()
    samples = per_item_gradients(
        make_model(graph), table, 2, observed, 40_000, {"samples": 2}, lambda q, p: semi_supervised(q, p, 3.0)
    )
    assert_mean(samples, exact.q_tables[table].grad[2])


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("graph", ["z->y", "z1->y1->z2"])
def test_score_function_before_an_enumerated_site_is_unbiased(graph: str, samples: int) -> None:
    """The enumeration weights depend on the draw before them; the baseline must not see that."""
    torch.manual_seed(8)
    first = make_model(graph).names[0]
    exact = make_model(graph)
    exact.q_tables[first].requires_grad_()
    equation_4(exact, 2, {}, 0.0).backward()
    model = make_model(graph)
    ways = {n: "score_function" if n == first else "enumerate" for n in model.names}
    run = {"samples": samples, "gradient": ways}
    grads = per_item_gradients(model, first, 2, {}, 30_000, run, lambda q, p: semi_supervised(q, p, 0.0))
    assert_mean(grads, exact.q_tables[first].grad[2])


def test_running_mean_baseline_leaves_the_gradient_unbiased() -> None:
    torch.manual_seed(9)
    exact = make_model("z->y")
    exact.q_tables["z"].requires_grad_()
    expected_over_draws(equation_8, exact, 2, {"y": 1}, 1, 3.0).backward()
    baseline = unknot.RunningMean()
    baseline.update(torch.tensor([-4.0]))
    model = make_model("z->y")
    ways = {"z": unknot.ScoreFunction(baseline), "y": "score_function"}
    grads = per_item_gradients(
        model, "z", 2, {"y": 1}, 40_000, {"gradient": ways}, lambda q, p: semi_supervised(q, p, 3.0)
    )
    assert_mean(grads, exact.q_tables["z"].grad[2])
    assert baseline.mean.item() != -4.0


def mixed_program(parameters: Tensor, enumerate_y: bool) -> tuple[unknot.Trace, unknot.Trace]:
    """Pathwise z1, label y after it, pathwise z2 after both; three items, one without a label."""
    torch.manual_seed(10)
    q, p = unknot.Trace(samples=3), unknot.Trace()
    x = torch.tensor([[0.3], [-1.0], [0.8]], dtype=torch.float64)
    z1 = q.normal(parameters[0] * x, parameters[1].exp(), name="z1")
    label = unknot.partial(torch.tensor([1, -1, 0]))
    y_logits = unknot.cat([z1 * parameters[2], x + parameters[3]], -1)
    way = "enumerate" if enumerate_y else "concrete"
    y = q.concrete(y_logits, 0.66, value=label, name="y", gradient=way, event_dims=1)
    first = y[..., :1]
    z2 = q.normal(first * parameters[4] + z1 * x, 0.7, name="z2", event_dims=1)
    p.normal(0.0, 1.0, value=q["z1"], name="z1")
    p.concrete(parameters[5:7], 0.66, value=q["y"], name="y")
    p.normal(first, 1.0, value=q["z2"], name="z2")
    p.normal(z1 * parameters[7] + z2 * first, 0.5, value=x, name="x")
    return q, p


@pytest.mark.parametrize("enumerate_y", [False, True])
def test_gradient_against_finite_differences_with_common_random_numbers(enumerate_y: bool) -> None:
    parameters = torch.randn(8, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 0.5

    def total(values: Tensor) -> Tensor:
        return semi_supervised(*mixed_program(values, enumerate_y), alpha=2.0, beta=1.5, gamma=3.0).total

    assert torch.autograd.gradcheck(total, (parameters.requires_grad_(),))


def test_weight_gradient_off_holds_the_weights_constant() -> None:
    parameters = torch.full((8,), 0.4, dtype=torch.float64, requires_grad=True)
    on = semi_supervised(*mixed_program(parameters, False))
    off = semi_supervised(*mixed_program(parameters, False), weight_gradient=False)
    torch.testing.assert_close(on.per_item, off.per_item)
    (with_weights,) = torch.autograd.grad(on.total, parameters)
    (without,) = torch.autograd.grad(off.total, parameters)
    assert not torch.allclose(with_weights, without)

    # By hand: the weights of item 0 and 2 as numbers, then the weighted sum's own gradient.
    q, p = mixed_program(parameters, False)
    log_w = torch.where(q["y"].known, q["y"].log_prob, 0.0)
    weight = log_w.softmax(0).detach()
    ratio = p.log_prob() - q.log_prob()
    by_hand = ((weight * ratio).sum(0) + 2 * log_w.mean(0)).mean()
    torch.testing.assert_close(torch.autograd.grad(by_hand, parameters)[0], without)


def test_a_label_switched_off_by_where_does_not_count() -> None:
    def run(active: Tensor) -> Tensor:
        q, p = unknot.Trace(), unknot.Trace()
        logits = torch.tensor([[0.3, 1.0], [0.2, -0.5]])
        labels = unknot.partial(torch.tensor([1, 0]))
        with q.where(active):
            q.concrete(logits, 0.66, value=labels, name="y", gradient="enumerate")
        with p.where(active):
            p.concrete(torch.zeros(2), 0.66, value=q["y"], name="y")
        p.normal(0.0, 1.0, value=torch.zeros(2), name="x")
        return semi_supervised(q, p, alpha=2.0).per_item

    on, off = run(torch.tensor([True, True])), run(torch.tensor([True, False]))
    assert on[0] == off[0]
    torch.testing.assert_close(off[1], torch.distributions.Normal(0.0, 1.0).log_prob(torch.tensor(0.0)))


@pytest.mark.parametrize("gradient", ["concrete", pytest.param("enumerate", marks=pytest.mark.slow)])
def test_compiles_without_a_graph_break(gradient: str) -> None:
    """The whole step, traces included; ``backend="eager"`` shows breaks without generating code."""
    encoder, decoder = torch.nn.Linear(6, 8), torch.nn.Linear(5, 6)

    def loss(x: Tensor, y: Tensor, known: Tensor) -> Tensor:
        q, p = unknot.Trace(samples=2), unknot.Trace()
        h = encoder(x)
        label = q.concrete(h[:, :3], 0.66, value=unknot.partial(y, known), name="y", gradient=gradient)
        mean = unknot.cat([h[:, 3:5], label], -1)[..., :2]
        z = q.normal(mean, h[:, 5:7].exp(), name="z")
        label = p.concrete(torch.zeros(3), 0.66, value=q["y"], name="y")
        z = p.normal(0.0, 1.0, value=q["z"], name="z")
        p.bernoulli(logits=decoder(unknot.cat([label, z], -1)), value=x, name="x")
        return semi_supervised(q, p, alpha=50.0, gamma=2.0).loss

    x, y = torch.rand(4, 6), torch.tensor([0, 2, -1, -1])
    with unknot.validation(False):
        torch.manual_seed(0)
        eager = loss(x, y, y >= 0)
        torch.manual_seed(0)
        compiled = torch.compile(loss, fullgraph=True, backend="eager")(x, y, y >= 0)
    torch.testing.assert_close(eager, compiled)


def test_sizes_of_the_reference_models() -> None:
    model = make_model("two labels")
    assert model.p_tables["x"].shape == (VALUES, VALUES, VALUES, OUTCOMES)
    assert len(model.completions({"y": 0})) == VALUES**2


@pytest.mark.parametrize("samples", [None, 3])
def test_the_discrete_divergence_of_a_relaxed_draw_is_that_of_its_classes(samples: int | None) -> None:
    logits = torch.tensor([[2.0, 0.0, -1.0], [0.3, 0.3, 0.0], [0.0, 1.0, 5.0]])
    prior = torch.tensor([0.5, 0.0, 0.0])
    q, p = unknot.Trace(samples=samples), unknot.Trace()
    q.concrete(logits, 0.66, value=unknot.partial(torch.tensor([-1, -1, 2])), name="y")
    p.concrete(prior, 0.66, value=q["y"], name="y")
    p.normal(0.0, 1.0, value=torch.zeros(3), name="x")
    found = semi_supervised(q, p, relaxed_kl="discrete")["kl[y]"]
    log_prior = prior.log_softmax(-1)
    for b in range(2):
        log_q = logits[b].log_softmax(-1)
        torch.testing.assert_close(
            found[b], sum(log_q[k].exp() * (log_prior[k] - log_q[k]) for k in range(3))
        )
    torch.testing.assert_close(found[2], log_prior[2])  # an observed class pays its prior alone
    with pytest.raises(unknot.errors.SpecError, match="density, discrete"):
        semi_supervised(q, p, relaxed_kl="hard")


def test_beta_by_site_weighs_that_site_alone() -> None:
    q, p = unknot.Trace(), unknot.Trace()
    for name in ("r", "s"):
        q.normal(torch.ones(4), 0.5, name=name, event_dims=0)
        p.normal(0.0, 1.0, value=q[name], name=name)
    p.normal(0.0, 1.0, value=torch.zeros(4), name="x")
    plain, heavy = semi_supervised(q, p), semi_supervised(q, p, beta={"r": 100.0})
    torch.testing.assert_close(heavy.per_item - plain.per_item, 99 * plain["kl[r]"])
    with pytest.raises(unknot.errors.SpecError, match="no site 'z'"):
        semi_supervised(q, p, beta={"z": 2.0})


WAYS = ["score_function", "enumerate", {"z": "enumerate", "y": "score_function", "v": "score_function"}]


@pytest.mark.parametrize("ways", WAYS, ids=["drawn", "enumerated", "mixed"])
@pytest.mark.parametrize("samples", [None, 4])
def test_equal_weights_of_all_labels_are_one_weight(ways: str | dict[str, str], samples: int | None) -> None:
    """The parts of the classifier add up to the whole, and so do the gradients."""
    model, labels = make_model("two labels"), labels_of("two labels")
    if samples and ways == "enumerate":
        pytest.skip("nothing is drawn")
    model.q_tables["z"].requires_grad_()
    totals = []
    for alpha in (3.0, {"y": 3.0, "v": 3.0}):
        torch.manual_seed(4)
        terms = semi_supervised(*model.run(X, labels, samples, ways), alpha=alpha)
        (slope,) = torch.autograd.grad(terms.loss, model.q_tables["z"])
        totals.append((terms.per_item, slope))
    torch.testing.assert_close(totals[0], totals[1])


@pytest.mark.parametrize("enumerated", [True, False])
def test_a_weight_for_each_labeled_site(enumerated: bool) -> None:
    """Independent labels y and v: each counts its own weight times log q, by hand; what is not named counts once."""
    logits = torch.tensor([[0.2, -0.4], [1.0, 0.3], [0.0, 2.0]], requires_grad=True)
    labels = {"y": torch.tensor([1, -1, 0]), "v": torch.tensor([0, 1, -1])}
    q, p = unknot.Trace(), unknot.Trace()
    for name in labels:
        way = "enumerate" if enumerated else "concrete"
        given = unknot.partial(labels[name])
        y = q.concrete(logits * (2 if name == "v" else 1), 0.66, value=given, name=name, gradient=way)
        p.concrete(torch.zeros(2), 0.66, value=q[name], name=name)
    p.normal(y[..., 0] * 0.0, 1.0, value=torch.zeros(3), name="x")
    terms = semi_supervised(q, p, alpha={"y": 50.0})
    first = torch.where(labels["y"] >= 0, logits.log_softmax(-1)[range(3), labels["y"].clamp_min(0)], 0.0)
    second = torch.where(
        labels["v"] >= 0, (2 * logits).log_softmax(-1)[range(3), labels["v"].clamp_min(0)], 0.0
    )
    torch.testing.assert_close(terms["classifier[y]"], first)
    torch.testing.assert_close(terms["classifier[v]"], second)
    assert terms.weights["classifier[y]"] == 50.0
    assert terms.weights["classifier[v]"] == 1.0
    terms.loss.backward()
    assert bool(logits.grad.isfinite().all())


def test_a_weight_for_a_site_that_is_not_there_is_refused() -> None:
    q, p = make_model("z->y").run(X, labels_of("z->y"))
    with pytest.raises(unknot.UnknotError, match="alpha: q has no site 'digit'; it has z, y"):
        semi_supervised(q, p, alpha={"digit": 2.0})


def test_without_labels_the_weighed_classifiers_are_zero() -> None:
    terms = semi_supervised(*make_model("z->y").run(X), alpha={"y": 2.0})
    assert terms["classifier[y]"].tolist() == [0.0] * len(X)


@pytest.mark.parametrize("samples", [None, 2, 3])
def test_a_spec_with_an_enumerated_class_and_a_style_from_x_alone(samples: int | None) -> None:
    """examples/m2.yaml with the style inferred from x alone: the axes (K, 1, B) and (S, B) meet in q(y, z)."""
    torch.manual_seed(0)
    model = GraphicalModel(
        [
            node("digit", "categorical", 3, inferred_from=["x"], labels=True, gradient="enumerate"),
            node("style", "normal", 2, inferred_from=["x"]),
            node("x", "bernoulli", parents=["digit", "style"]),
        ],
        (4,),
    )
    x = torch.rand(5, 4)
    q = model.encode(x, {"digit": torch.tensor([2, -1, -1, 0, -1])}, samples)
    p = model.decode(x, q)
    whole = decompose(q, p, 50, parents={name: [] for name in q})["between"]
    alone = semi_supervised(q, p, between=4.0, dataset_size=50, parents={name: [] for name in q})["between"]
    torch.testing.assert_close(alone, whole, rtol=1e-4, atol=1e-4)
    found, wanted = (
        torch.autograd.grad(term.sum(), list(model.parameters()), retain_graph=True, allow_unused=True)
        for term in (alone, whole)
    )
    assert any(gradient is not None for gradient in wanted)
    for one, other in zip(found, wanted, strict=True):
        if other is not None:
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
