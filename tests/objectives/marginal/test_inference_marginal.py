"""The inference marginal from a trace: which columns it mixes over, and what it refuses."""

import pytest
import torch

import unknot
from tests.objectives.marginal.structured_programs import B, Encoder, N, data, decoder, leaf_logs
from tests.references.decomposition import log_q_loop
from tests.references.pairwise import weight_loop
from unknot.errors import SpecError
from unknot.objectives import decompose
from unknot.objectives.marginal.inference_marginal import InferenceMarginal


def test_a_reference_batch_adds_columns():
    x, more, encoder = data(), data(9), Encoder()
    q, reference = encoder(x), encoder(more)
    terms = decompose(q, decoder(x, q), N, reference=reference, parents={name: [] for name in q})
    logs = leaf_logs(q)
    for name in logs:
        dist = reference[name].dist
        point = q[name].unbounded if name == "y" else q[name].value
        score = (lambda v, d=dist: d.log_density(v)[:, None]) if name == "y" else dist.log_prob
        logs[name] = torch.cat([logs[name], torch.stack([score(point[b]) for b in range(B)])], 1).detach()
    weights = weight_loop("stratified", N, B + 9, range(B))
    own = q.log_prob().detach()
    torch.testing.assert_close(
        terms["mutual_information"], log_q_loop(["y", "z", "w"], logs, weights) - own, rtol=1e-9, atol=1e-9
    )


def test_exact_takes_the_whole_data_set_as_reference():
    x, encoder = data(20), Encoder()
    torch.manual_seed(1)
    whole = encoder(x)
    all_at_once = decompose(whole, decoder(x, whole), 20, estimator="exact", parents={"y": [], "z": []})
    torch.manual_seed(2)
    q = encoder(x[:B])
    part = decompose(
        q, decoder(x[:B], q), 20, estimator="exact", reference=whole, parents={name: [] for name in q}
    )
    logs = {}
    for name in ("z", "w"):
        rows = [whole[name].dist.log_prob(q[name].value[b]) for b in range(B)]
        logs[name] = torch.stack(rows).detach()
    logs["y"] = torch.stack(
        [whole["y"].dist.log_density(q["y"].unbounded[b])[:, None] for b in range(B)]
    ).detach()
    want = log_q_loop(["y", "z", "w"], logs, weight_loop("exact", 20, 20, range(B))) - q.log_prob().detach()
    torch.testing.assert_close(part["mutual_information"], want, rtol=1e-9, atol=1e-9)
    assert len(all_at_once["marginal"]) == 20


def test_a_reference_batch_cannot_serve_dependent_variables():
    encoder, x = Encoder("straight_through", dependent=True), data()
    q = encoder(x)
    with pytest.raises(SpecError, match="reference"):
        decompose(q, decoder(x, q), N, reference=encoder(data()), encoder=lambda g: encoder(x, g["y"]))


def test_a_trace_without_a_batch_is_refused():
    with pytest.raises(SpecError, match="has no batch"):
        InferenceMarginal(N).tree(unknot.Trace(), [])


@pytest.mark.parametrize("estimator", ["stratified", "minibatch_weighted", "naive"])
def test_every_node_of_the_tree_is_a_mixture_over_the_batch(estimator):
    q = Encoder()(data())
    tree = InferenceMarginal(N, estimator, parents={name: [] for name in q}).tree(
        q, {"content": ["y"], "style": ["z", "w"]}
    )
    logs, weights = leaf_logs(q), weight_loop(estimator, N, B, range(B))
    close = lambda one, other: torch.testing.assert_close(one.detach(), other, rtol=1e-9, atol=1e-9)  # noqa: E731
    close(tree.log_q, log_q_loop(["y", "z", "w"], logs, weights))
    close(tree.parts["style"].log_q, log_q_loop(["z", "w"], logs, weights))
    close(tree.parts["style"].parts["z"].log_q, log_q_loop(["z"], logs, weights))
