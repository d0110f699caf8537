"""The decomposition: against a double loop, and its sum against the ELBO."""

import pytest
import torch
from torch.distributions import Normal

import unknot
from tests.objectives.marginal.structured_programs import B, Encoder, K, N, data, decoder, leaf_logs
from tests.references.decomposition import correlations_loop, log_q_loop, marginal_loop
from tests.references.pairwise import weight_loop
from unknot.errors import SpecError
from unknot.objectives import decompose, elbo, semi_supervised

TREES = [
    ["y", "z", "w"],
    {"content": ["y"], "style": ["z", "w"]},
    {"a": {"b": ["y"], "c": {"d": ["z"]}}, "e": ["w"]},
    {"all": ["w", "z", "y"]},
]


LABELS = torch.tensor([2, -1, 0, -1, 3, -1])


def expected(
    q: unknot.Trace, p: unknot.Trace, tree, estimator: str, encode_at=None
) -> dict[str, torch.Tensor]:
    weights = weight_loop(estimator, B if estimator == "exact" else N, B, range(B))
    logs = leaf_logs(q, encode_at)
    prior = {
        name: Normal(0.0, torch.tensor(scale).double()).log_prob(q[name].value).detach()
        for name, scale in (("z", 1.0), ("w", 2.0))
    }
    prior["y"] = p["y"].log_prob.detach()[:, None]
    own = sum(torch.where(torch.as_tensor(n.known), 0.0, n.log_prob) for n in q.variables()).detach()
    return {
        "reconstruction": p["x"].log_prob.detach(),
        "mutual_information": log_q_loop(["y", "z", "w"], logs, weights) - own,
        **correlations_loop(tree, logs, prior, weights),
        "marginal": marginal_loop(logs, prior, weights),
    }


@pytest.mark.parametrize("estimator", ["stratified", "minibatch_weighted", "naive", "exact"])
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize(
    "labels", [None, unknot.partial(LABELS), LABELS.clamp(min=0)], ids=["none", "some", "all"]
)
def test_every_term_is_that_of_a_double_loop(estimator, tree, labels):
    x = data()
    q = Encoder()(x, labels)
    p = decoder(x, q)
    size = B if estimator == "exact" else N
    terms = decompose(q, p, size, tree, estimator=estimator, parents={name: [] for name in q})
    want = expected(q, p, tree, estimator)
    if "within" in terms:
        below = [name for name in want if name.startswith(("within[", "between["))]
        want["within"] = sum(want.pop(name) for name in below)
    assert set(terms) == set(want)
    for name, value in want.items():
        torch.testing.assert_close(terms[name], value, rtol=1e-9, atol=1e-9)


def test_a_draw_with_samples_is_the_mean_over_them():
    x, encoder = data(), Encoder()
    q = encoder(x, samples=3)
    terms = decompose(q, decoder(x, q), N, parents={name: [] for name in q})
    want = {name: torch.zeros(B, dtype=torch.float64) for name in terms}
    for s in range(3):
        one = unknot.Trace()
        for node in q.variables():
            site = unknot.core.node.Variable(node.name, node.dist, node.value[s], False, 1, node.event_dims)
            site.gradient, site.scored_by = node.gradient, node.scored_by
            site.unbounded = None if node.unbounded is None else node.unbounded[s]
            one._store(node.name, site)
        for name, value in decompose(one, decoder(x, one), N, parents={name: [] for name in q}).items():
            want[name] += value / 3
    for name in terms:
        torch.testing.assert_close(terms[name], want[name])


def test_an_enumerated_class_is_the_weighted_sum_over_its_values():
    x, encoder = data(), Encoder("enumerate")
    q = encoder(x)
    terms = decompose(q, decoder(x, q), N, parents={name: [] for name in q})
    probs = q["y"].dist.probs
    log_marginal = torch.log(probs / N + (probs.sum(0) - probs) * (N - 1) / (N * (B - 1)))
    exact = torch.zeros(B, dtype=torch.float64)
    for b in range(B):
        for k in range(K):
            row = [probs[c, k] * (1 / N if c == b else (N - 1) / (N * (B - 1))) for c in range(B)]
            exact[b] += probs[b, k] * torch.log(sum(row))
    torch.testing.assert_close((probs * log_marginal).sum(-1), exact)
    prior = torch.arange(float(K)).double().log_softmax(-1)
    y_marginal = (probs * (prior - log_marginal)).sum(-1)
    without_y = decompose(*without(q, x, "y"), N, ["z", "w"], parents={"z": [], "w": []})["marginal"]
    torch.testing.assert_close(terms["marginal"], y_marginal + without_y)


def without(q: unknot.Trace, x: torch.Tensor, name: str) -> tuple[unknot.Trace, unknot.Trace]:
    """The pair of traces with one variable left out of both."""
    traces = unknot.Trace(), unknot.Trace()
    for trace, source in zip(traces, (q, decoder(x, q)), strict=True):
        for node in source.nodes():
            if node.name != name:
                trace._store(node.name, node)
    return traces


@pytest.mark.parametrize("gradient", [None, "straight_through", "score_function", "enumerate", "plug_in"])
@pytest.mark.parametrize("samples", [None, 3])
@pytest.mark.parametrize("correlated", [False, True])
def test_unit_weights_give_the_elbo_and_its_gradient(gradient, samples, correlated):
    x, encoder = data(), Encoder(gradient)
    q = encoder(x, unknot.partial(LABELS), samples)
    p = decoder(x, q, correlated)
    terms, bound = decompose(q, p, N, TREES[1], parents={"z": [], "w": []}), elbo(q, p)
    torch.testing.assert_close(terms.per_item, bound.per_item, rtol=1e-12, atol=1e-12)
    weights = list(encoder.parameters())
    mine = torch.autograd.grad(terms.loss, weights, retain_graph=True)
    theirs = torch.autograd.grad(bound.loss, weights)
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def test_deep_trees_name_every_node_and_give_the_sum_beside():
    x = data()
    q = Encoder()(x)
    terms = decompose(
        q, decoder(x, q), N, {"content": ["y"], "style": ["z", "w"]}, parents={name: [] for name in q}
    )
    parts = ["between[style]", "within[z]", "within[w]"]
    assert list(terms) == ["reconstruction", "mutual_information", "between", *parts, "marginal"]
    torch.testing.assert_close(terms.diagnostics["within"], sum(terms[name] for name in parts).detach())


def test_flat_trees_have_the_five_terms_and_the_parts_beside():
    x = data()
    q = Encoder()(x)
    terms = decompose(q, decoder(x, q), N, parents={name: [] for name in q})
    assert list(terms) == ["reconstruction", "mutual_information", "between", "within", "marginal"]
    assert set(terms.diagnostics) == {"within[z]", "within[w]"}


def test_the_size_of_the_data_set_has_no_default():
    x = data()
    q = Encoder()(x)
    with pytest.raises(TypeError, match="dataset_size"):
        decompose(q, decoder(x, q))


def test_unknown_options_are_refused():
    x = data()
    q = Encoder()(x)
    with pytest.raises(SpecError, match="estimater"):
        decompose(q, decoder(x, q), N, estimater="naive")


def chain(x: torch.Tensor, steps: int) -> unknot.Trace:
    q = unknot.Trace()
    state = q.categorical(logits=x, gradient="enumerate", name="start")
    for _ in q.markov(range(steps)):
        state = q.categorical(logits=torch.eye(3)[state], gradient="enumerate", name="state")
    return q


def decode_chain(x: torch.Tensor | None, q: unknot.Trace, steps: int) -> unknot.Trace:
    p = unknot.Trace()
    state = p.categorical(logits=torch.zeros(3), value=q["start"], name="start")
    for step in p.markov(range(steps)):
        state = p.categorical(logits=torch.eye(3)[state], value=q[f"step[{step}].state"], name="state")
    p.normal(state.float(), 1.0, value=None if x is None else x[:, 0], name="x", event_dims=0)
    return p


def test_sites_of_a_loop_that_use_an_axis_again_are_refused() -> None:
    """The start and the last two steps have an axis each; the third step uses that of the first one."""
    x = torch.randn(5, 3)
    q = unknot.trace(chain, x, 2)
    p = unknot.trace(decode_chain, x, q, 2)
    torch.testing.assert_close(decompose(q, p, 50).per_item, elbo(q, p).per_item)
    q = unknot.trace(chain, x, 3)
    p = unknot.trace(decode_chain, x, q, 3)
    said = r"'step\[2\]\.state' uses that of 'step\[0\]\.state' again, in a markov loop"
    with pytest.raises(SpecError, match=said):
        decompose(q, p, 50)
    with pytest.raises(SpecError, match=said):
        semi_supervised(q, p, between=4.0, dataset_size=50)


def test_a_site_that_does_not_exist_for_every_item_is_refused():
    q, p = unknot.Trace(), unknot.Trace()
    here = torch.arange(B) < 3
    with q.where(here):
        q.normal(torch.zeros(B, 2), torch.ones(B, 2), name="z")
    with p.where(here):
        p.normal(0.0, 1.0, value=q["z"], name="z")
    with pytest.raises(SpecError, match="where"):
        decompose(q, p, N)


def test_an_empty_batch_and_an_empty_variable_are_refused_by_name():
    for shape, message in (((0, 2), "no items"), ((4, 0), "site 'z'")):
        q, p = unknot.Trace(), unknot.Trace()
        q.normal(torch.zeros(shape), torch.ones(shape), name="z")
        p.normal(0.0, 1.0, value=q["z"], name="z")
        with pytest.raises(SpecError, match=message):
            decompose(q, p, N)


def test_an_empty_batch_with_labels_is_refused_by_name():
    q, p = unknot.Trace(), unknot.Trace()
    nobody = unknot.partial(torch.zeros(0, dtype=torch.long), torch.zeros(0, dtype=torch.bool))
    q.concrete(torch.zeros(0, 3), 0.66, value=nobody, name="y")
    p.concrete(torch.zeros(3), 0.66, value=q["y"], name="y")
    with pytest.raises(SpecError, match="no items"):
        decompose(q, p, N)


@pytest.mark.slow
def test_the_objective_compiles_without_graph_breaks():
    encoder, x = Encoder(), data()

    def loss(x: torch.Tensor) -> torch.Tensor:
        q = encoder(x)
        return decompose(q, decoder(x, q), N, TREES[1], parents=found).loss

    found = unknot.objectives.site_parents(encoder, x)
    torch.manual_seed(1)
    eager = loss(x)
    torch.manual_seed(1)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")(x)
    torch.testing.assert_close(compiled, eager)


@pytest.mark.slow  # several minutes of compilation for a relaxed class: the encoder is unrolled
@pytest.mark.parametrize("gradient", ["enumerate", "straight_through", "concrete"])
def test_a_dependent_encoder_has_the_same_terms_compiled(gradient):
    encoder, x = Encoder(gradient, dependent=True), data()

    def terms(x: torch.Tensor) -> dict[str, torch.Tensor]:
        q = encoder(x)
        again = {"encoder": lambda given: encoder(x, given["y"]), "pairs": 1, "draws": 1}
        return dict(decompose(q, decoder(x, q), N, parents=found, **again))

    found = unknot.objectives.site_parents(encoder, x)
    torch.manual_seed(1)
    eager = terms(x)
    torch.manual_seed(1)
    compiled = torch.compile(terms, fullgraph=True, backend="aot_eager")(x)
    for name in eager:
        torch.testing.assert_close(compiled[name], eager[name])
