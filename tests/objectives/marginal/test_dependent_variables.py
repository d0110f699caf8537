"""The right conditional where the encoder computes z from y: (x of the column, y of the row)."""

import pytest
import torch

import unknot
from tests.objectives.marginal.structured_programs import B, Encoder, K, N, data, decoder, leaf_logs
from tests.objectives.test_decomposition import expected
from unknot.errors import SpecError
from unknot.objectives import decompose, elbo

TREE = {"content": ["y"], "style": ["z", "w"]}


def encoder_at_rows(encoder: Encoder, x: torch.Tensor, q: unknot.Trace) -> list[unknot.Trace]:
    """The encoder's trace on all items with y of item b, for each b."""
    return [encoder(x, q["y"].value[b].detach().expand(len(x), K)) for b in range(len(x))]


def check_against_loop(net: Encoder, x: torch.Tensor, q: unknot.Trace, **options) -> None:
    terms = decompose(q, decoder(x, q), N, TREE, **options)
    want = expected(q, decoder(x, q), TREE, "stratified", {"z": encoder_at_rows(net, x, q)})
    assert set(terms) == set(want)
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


def test_soft_draws_take_every_pair_when_asked():
    encoder, x = Encoder(None, dependent=True), data()
    q = encoder(x)
    check_against_loop(encoder, x, q, encoder=lambda given: encoder(x, given["y"]), every_pair=True)


@pytest.mark.parametrize(
    "checks", [torch.no_grad, lambda: unknot.validation(False)], ids=["no_grad", "no checks"]
)
def test_an_encoder_at_hand_is_used_where_nothing_can_be_walked(checks):
    encoder, x = Encoder("straight_through", dependent=True), data()
    with checks():
        q = encoder(x)
        check_against_loop(encoder, x, q, encoder=lambda given: encoder(x, given["y"]))
        soft = Encoder(None, dependent=True)
        q = soft(x)
        with pytest.raises(SpecError, match="not from a finite set"):
            decompose(q, decoder(x, q), N, encoder=lambda given: soft(x, given["y"]))


def test_the_table_is_made_with_one_run_for_each_value():
    encoder, x, runs = Encoder("straight_through", dependent=True), data(), []

    def count(given):
        runs.append(given["y"])
        return encoder(x, given["y"])

    q = encoder(x)
    decompose(q, decoder(x, q), N, encoder=count)
    assert [value[0].argmax().item() for value in runs] == list(range(K))


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
            short.append(decompose(q, p, 64, estimator="exact", parents={}))
    difference = torch.stack(
        [a["between"].mean() - b["between"].mean() for a, b in zip(right, short, strict=True)]
    )
    assert difference.mean().abs() > 5 * difference.std() / 20**0.5
    assert difference.mean().abs() > 0.05


@pytest.mark.parametrize(
    ("gradient", "labels", "message"),
    [
        (None, None, "not from a finite set"),
        ("plug_in", None, "not from a finite set"),
        ("straight_through", None, "Pass encoder="),
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
    with pytest.raises(SpecError, match="not from a finite set"):
        decompose(q, p, N)
    terms = decompose(q, p, N, encoder=lambda given: encode(given["a"]), every_pair=True)
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
