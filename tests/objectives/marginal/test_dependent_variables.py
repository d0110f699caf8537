"""The right conditional where the encoder computes z from y: (x of the column, y of the row)."""

import itertools

import pytest
import torch

import unknot
from tests.objectives.marginal.structured_programs import B, Encoder, K, N, data, decoder, leaf_logs
from tests.references.pairwise import mixture_loop, weight_loop
from unknot.errors import SpecError
from unknot.objectives import decompose, elbo

TREE = {"content": ["y"], "style": ["z", "w"]}


def encoder_at_rows(encoder: Encoder, x: torch.Tensor, q: unknot.Trace) -> list[unknot.Trace]:
    """The encoder's trace on all items with y of item b, for each b."""
    return [encoder(x, q["y"].value[b].detach().expand(len(x), K)) for b in range(len(x))]


def style_alone(net: Encoder, x: torch.Tensor, q: unknot.Trace) -> tuple[torch.Tensor, torch.Tensor]:
    """log Σ_k π_k(x_c) q(z_b | x_c, k) and the same for every dimension: (B, C) and (B, C, D)."""
    log_pi = q["y"].dist.logits.log_softmax(-1)  # (C, K)
    joint, single = [], []
    for k in range(K):
        dist = net(x, torch.full((len(x),), k))["z"].dist
        logs = torch.stack([dist.log_prob(q["z"].value[b]) for b in range(len(x))])  # (B, C, D)
        joint.append(logs.sum(-1) + log_pi[:, k])
        single.append(logs + log_pi[:, k, None])
    return torch.stack(joint).logsumexp(0).detach(), torch.stack(single).logsumexp(0).detach()


def check_against_loop(net: Encoder, x: torch.Tensor, q: unknot.Trace, **options) -> None:
    """Every term of TREE, from loops: in the root z is scored at the row's y, below it y is summed out."""
    p = decoder(x, q)
    terms = decompose(q, p, N, TREE, **options)
    weights = weight_loop("stratified", N, B, range(B))
    at_rows = {n: logs.sum(-1) for n, logs in leaf_logs(q, {"z": encoder_at_rows(net, x, q)}).items()}
    dimensions = leaf_logs(q)
    z, dimensions["z"] = style_alone(net, x, q)
    root = mixture_loop(sum(at_rows.values()), weights)
    content, style = mixture_loop(at_rows["y"], weights), mixture_loop(z + at_rows["w"], weights)
    one = {"z": mixture_loop(z, weights), "w": mixture_loop(at_rows["w"], weights)}
    single = {
        name: torch.stack([mixture_loop(logs[..., d], weights) for d in range(logs.shape[-1])]).sum(0)
        for name, logs in dimensions.items()
    }
    own = sum(torch.where(torch.as_tensor(n.known), 0.0, n.log_prob) for n in q.variables()).detach()
    want = {
        "mutual_information": root - own,
        "between": content + style - root,
        "between[style]": one["z"] + one["w"] - style,
        "within[z]": single["z"] - one["z"],
        "within[w]": single["w"] - one["w"],
        "marginal": p.log_prob("y", "z", "w").detach() - sum(single.values()),
    }
    for name, value in want.items():
        torch.testing.assert_close(terms[name], value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("gradient", ["straight_through", "score_function"])
def test_hard_draws_use_a_table_of_all_values(gradient):
    encoder, x = Encoder(gradient, dependent=True), data()
    q = encoder(x)
    check_against_loop(encoder, x, q, encoder=lambda given: encoder(x, given["y"]))


def test_labels_use_a_table_of_all_values():
    encoder, x = Encoder(None, dependent=True), data()
    q = encoder(x, torch.tensor([0, 1, 2, 3, 0, 1]))
    check_against_loop(encoder, x, q, encoder=lambda given: encoder(x, given["y"]))


def test_soft_draws_keep_the_rows_value_in_the_joint():
    encoder, x = Encoder(None, dependent=True), data()
    q = encoder(x)
    options = {"encoder": lambda given: encoder(x, given["y"]), "all_pairs": True}
    logs = leaf_logs(q, {"z": encoder_at_rows(encoder, x, q)})
    joint = mixture_loop(sum(one.sum(-1) for one in logs.values()), weight_loop("stratified", N, B, range(B)))
    terms = decompose(q, decoder(x, q), N, TREE, **options)
    torch.testing.assert_close(terms["mutual_information"], joint - q.log_prob().detach())


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, lambda: unknot.validation(False)])
def test_the_mode_changes_nothing(mode):
    encoder, x = Encoder("straight_through", dependent=True), data()
    with mode():
        q = encoder(x)
        check_against_loop(encoder, x, q, encoder=lambda given: encoder(x, given["y"]))


def test_the_table_is_made_with_one_run_for_each_value():
    encoder, x, runs = Encoder("straight_through", dependent=True), data(), []

    def count(given):
        runs.append(given["y"])
        return encoder(x, given["y"])

    q = encoder(x)
    decompose(q, decoder(x, q), N, encoder=count)
    # the first run, with nothing given, is how the dependence is found
    assert [None if value is None else value[0].argmax().item() for value in runs] == [None, *range(K)]


def test_an_enumerated_parent_needs_no_further_run():
    encoder, x = Encoder("enumerate", dependent=True), data()
    q = encoder(x)
    terms = decompose(q, decoder(x, q), N)
    # Σ_k q(k | x_b) of the same terms with y given as k and z at its own draw for k.
    want = torch.zeros(B, dtype=torch.float64)
    logits = q["y"].dist.logits.log_softmax(-1)
    for b in range(B):
        for k in range(K):
            at_k = encoder(x, torch.full((B,), k))["z"].dist
            logs = at_k.log_prob(q["z"].value[k, 0, b]).sum(-1) + logits[:, k]
            logs = logs + q["w"].dist.log_prob(q["w"].value[0, b]).sum(-1)
            weights = torch.full((B,), (N - 1) / (N * (B - 1)), dtype=torch.float64)
            weights[b] = 1 / N
            own = logits[b, k] + at_k.log_prob(q["z"].value[k, 0, b])[b].sum() + q["w"].log_prob[0, b]
            want[b] += logits[b, k].exp() * (torch.logsumexp(logs + weights.log(), 0) - own)
    torch.testing.assert_close(terms["mutual_information"], want)


def test_samples_and_enumeration_together_give_the_elbo():
    encoder, x = Encoder("enumerate", dependent=True), data()
    q = encoder(x, samples=3)
    p = decoder(x, q)
    torch.testing.assert_close(decompose(q, p, N, TREE).per_item, elbo(q, p).per_item)


def test_the_shortcut_is_biased():
    """Scoring z at (x_c, y_c) instead of (x_c, y_b) shifts the information by far more than its error."""
    torch.manual_seed(3)
    encoder, x = Encoder("straight_through", dependent=True), data(64)
    right, short = [], []
    with torch.no_grad():
        for _ in range(20):
            q = encoder(x)
            p = decoder(x, q)
            options = {"parents": {"z": ["y"]}, "encoder": lambda given: encoder(x, given["y"])}
            right.append(decompose(q, p, 64, estimator="exact", **options))
            short.append(decompose(q, p, 64, estimator="exact", parents={name: [] for name in q}))
    difference = torch.stack(
        [a["between"].mean() - b["between"].mean() for a, b in zip(right, short, strict=True)]
    )
    assert difference.mean().abs() > 5 * difference.std() / 20**0.5
    assert difference.mean().abs() > 0.05


def test_without_gradients_what_cannot_be_known_is_refused_and_what_is_stated_is_taken():
    encoder, x = Encoder(), data()
    with torch.no_grad():
        q = encoder(x)
        with pytest.raises(SpecError, match="site_parents"):
            decompose(q, decoder(x, q), N)
        stated = decompose(q, decoder(x, q), N, parents=unknot.objectives.site_parents(encoder, x))
        torch.testing.assert_close(stated.per_item, elbo(q, decoder(x, q)).per_item)


def test_q_equal_to_p_makes_every_term_zero():
    """y ~ Cat(1/2, 1/2), z | y ~ N(±2, .5): the case that gave ±log 2."""

    def program(values, batch):
        trace = unknot.Trace()
        logits, half = torch.zeros(batch, 2, dtype=torch.float64), torch.tensor(0.5, dtype=torch.float64)
        y = trace.categorical(logits=logits, value=values["y"], name="y", gradient="enumerate")
        trace.normal(4.0 * y.double() - 2.0, half, value=values["z"], name="z", event_dims=0)
        return trace

    q = program({"y": None, "z": None}, B)
    p = program(q, B)
    terms = decompose(q, p, N, prior=lambda given: program(given, given.batch))
    for value in terms.values():
        torch.testing.assert_close(value.double(), torch.zeros(B).double(), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("first", "second"), [*itertools.product(("enumerate", "score_function"), repeat=2)])
@pytest.mark.parametrize("samples", [None, 3])
@pytest.mark.parametrize("labeled", [False, True])
def test_a_discrete_child_of_a_discrete_parent(first, second, samples, labeled):
    weight = torch.randn(K, K, dtype=torch.float64, requires_grad=True)
    x, labels = data(), torch.arange(B) % K if labeled else None

    def encode(y=None, c=labels, s=None):
        q = unknot.Trace(samples=s)
        y = q.one_hot_categorical(logits=x[:, :K], value=y, name="y", gradient=first)
        q.one_hot_categorical(logits=y @ weight + x[:, 1:], value=c, name="c", gradient=second)
        return q

    q = encode(s=samples)
    p = unknot.Trace()
    for name in ("y", "c"):
        p.one_hot_categorical(logits=torch.zeros(K, dtype=torch.float64), value=q[name], name=name)
    terms = decompose(q, p, N, encoder=lambda given: encode(given["y"], given["c"]))
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)


@pytest.mark.parametrize(
    ("gradient", "labels", "message"),
    [
        (None, None, "run a few times.* In a spec, leave y out of z's inferred_from"),
        ("plug_in", None, "run a few times"),
        ("straight_through", None, "once for each value"),
        (None, torch.zeros(B, dtype=torch.long), "may depend on y"),
    ],
)
def test_a_dependence_without_a_way_to_the_conditional_is_refused(gradient, labels, message):
    x = data()
    q = Encoder(gradient, dependent=True)(x, labels)
    with pytest.raises(SpecError, match=message):
        decompose(q, decoder(x, q), N)


def test_a_continuous_parent_is_refused_or_takes_every_pair():
    x = data()

    def encode(a_value=None):
        q = unknot.Trace()
        a = q.normal(
            x[:, :2] * torch.ones(2, dtype=torch.float64, requires_grad=True), 0.5, value=a_value, name="a"
        )
        q.normal(2 * a + x[:, 2:4], 0.3, name="b")
        return q

    q = encode()
    p = unknot.Trace()
    for name in ("a", "b"):
        p.normal(torch.zeros((), dtype=torch.float64), 1.0, value=q[name], name=name)
    with pytest.raises(SpecError, match="run a few times"):
        decompose(q, p, N)
    terms = decompose(q, p, N, encoder=lambda given: encode(given["a"]), all_pairs=True)
    a, b = q["a"].value, q["b"].value
    for row in range(B):
        logs = torch.distributions.Normal(x[:, :2], 0.5).log_prob(a[row]).sum(-1)
        logs = logs + torch.distributions.Normal(2 * a[row] + x[:, 2:4], 0.3).log_prob(b[row]).sum(-1)
        weights = torch.full((B,), (N - 1) / (N * (B - 1)), dtype=torch.float64)
        weights[row] = 1 / N
        want = torch.logsumexp(logs + weights.log(), 0) - logs[row]
        torch.testing.assert_close(terms["mutual_information"][row], want, rtol=1e-6, atol=1e-6)


def test_an_encoder_that_ignores_the_given_value_is_refused():
    encoder, x = Encoder("straight_through", dependent=True), data()
    q = encoder(x)
    with pytest.raises(SpecError, match="does not have 'y' at the given value"):
        decompose(q, decoder(x, q), N, encoder=lambda given: encoder(x))


def test_leaf_logs_of_the_reference_use_the_rows_parent():
    encoder, x = Encoder("straight_through", dependent=True), data()
    q = encoder(x)
    right, short = leaf_logs(q, {"z": encoder_at_rows(encoder, x, q)}), leaf_logs(q)
    torch.testing.assert_close(right["z"].diagonal().sum(0), short["z"].diagonal().sum(0))
    assert not torch.allclose(right["z"], short["z"])
