"""Information, correlation and unused dimensions, where they are known."""

import math

import torch

import unknot
from tests.objectives.marginal.structured_programs import Encoder, K, N, data, decoder
from unknot.objectives import decompose, information

double = torch.float64


def test_they_are_the_terms_of_the_decomposition():
    x = data()
    q = Encoder()(x)
    terms = decompose(q, decoder(x, q), N, parents={name: [] for name in q})
    found = information(q, N, parents={name: [] for name in q})
    torch.testing.assert_close(found.joint, -terms["mutual_information"].mean().detach())
    torch.testing.assert_close(found.between, -terms["between"].mean().detach())
    within = -(terms["between"] + terms["within"]).mean().detach()
    torch.testing.assert_close(found.total_correlation, within)
    assert {name: len(values) for name, values in found.dimensions.items()} == {"y": 1, "z": 3, "w": 2}
    torch.testing.assert_close(found.dimensions["y"][0], found.variables["y"])


def test_an_ignored_dimension_has_no_information_and_is_called_unused():
    x = torch.randn(256, 3, dtype=double)
    q = unknot.Trace()
    q.normal(x * torch.tensor([3.0, 0.0, 0.02]), torch.ones(3, dtype=double), name="z")
    found = information(q, 10_000)
    assert abs(found.dimensions["z"][1]) < 1e-9
    assert found.unused() == {"z": [1, 2]}
    assert found.unused(below=1e-6) == {"z": [1]}
    assert [index for _, index, _ in found.ranked()][-1] == 0


def test_information_saturates_at_log_n_where_every_item_has_its_own_code():
    n = 64
    q = unknot.Trace()
    q.normal(10.0 * torch.arange(n, dtype=double)[:, None], 0.1, name="z")
    assert abs(information(q, n, estimator="exact").joint - math.log(n)) < 1e-9


def test_information_of_an_enumerated_class_is_exact_over_the_whole_data_set():
    x = data(30)
    q = Encoder("enumerate")(x)
    probs = q["y"].dist.probs.detach()
    mean = probs.mean(0)
    exact = sum(probs[n, k] * (probs[n, k] / mean[k]).log() for n in range(30) for k in range(K)) / 30
    torch.testing.assert_close(
        information(q, 30, estimator="exact", parents={name: [] for name in q}).variables["y"], exact
    )


def test_relaxed_binary_vectors_have_one_value_per_dimension():
    q = unknot.Trace()
    logits = torch.randn(50, 4, dtype=double) * torch.tensor([5.0, 0.0, 1.0, 0.0])
    q.relaxed_bernoulli(0.5, logits=logits, name="b")
    found = information(q, 1000).dimensions["b"]
    assert found.shape == (4,)
    torch.testing.assert_close(found[[1, 3]], torch.zeros(2, dtype=double))
    assert found[0] > found[2] > 0
