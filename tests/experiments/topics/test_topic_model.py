"""Topic models as Trace programs."""

from __future__ import annotations

import pytest
import torch

import unknot
from experiments.topics.topic_model import TopicModel, posterior
from tests.models.words.test_counts import counts
from unknot.models.words.counts import word_log_likelihood
from unknot.objectives import elbo, hfvae


@pytest.mark.parametrize("mixing", ["product", "mixture", "linear"])
@pytest.mark.parametrize("groups", [{"topics": 4}, {"first": 2, "second": 3}])
def test_both_programs_run_on_sparse_counts(mixing: str, groups: dict[str, int]) -> None:
    model, x = TopicModel(7, groups, mixing, hidden=(6,)), counts()
    q = model.encode(x.to_sparse())
    p = model.decode(x.to_sparse(), q)
    assert list(p) == [*groups, "x"]
    terms = hfvae(q, p, dataset_size=100, beta=0.1, gamma=4.0, parents={name: [] for name in q})
    terms.loss.backward()
    assert torch.isfinite(terms.loss)
    torch.testing.assert_close(p["x"].log_prob, model.decode(x, q)["x"].log_prob)


def test_several_draws_have_an_axis() -> None:
    model, x = TopicModel(7, {"topics": 3}, hidden=(6,)).eval(), counts().to_sparse()
    q = model.encode(x, samples=6)
    assert elbo(q, model.decode(x, q)).per_item.shape == (5,)
    assert model.expected_data(q).shape == (6, 5, 7)


def test_documents_are_drawn() -> None:
    model = TopicModel(7, {"topics": 3}, hidden=(6,)).eval()
    drawn = model.decode(None, unknot.given(4))["x"].value
    assert drawn.shape == (4, 7)
    assert drawn.sum(-1).tolist() == [100.0] * 4


# ---- Posteriors that are refined: nearer to the truth, the model untouched -------------------------------


def test_refining_raises_the_bound_to_the_true_posterior() -> None:
    """One topic, two words: the posterior of z is known on a grid."""
    torch.manual_seed(0)
    model = TopicModel(2, {"topics": 1}, "linear", hidden=(3,)).eval()
    with torch.no_grad():
        model.decoder.words.weight.copy_(torch.tensor([[2.0], [-2.0]]))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    x = torch.tensor([[9.0, 1.0], [2.0, 2.0]])
    grid = torch.linspace(-4, 4, 2001)
    logs = torch.stack([word_log_likelihood(model.decoder(grid[:, None]), one.expand(2001, 2)) for one in x])
    shares = (logs - grid**2 / 2).softmax(-1)  # (2, 2001)
    mean = (shares * grid).sum(-1)
    plain, refined = posterior(model, x), posterior(model, x, steps=200)
    truth = (shares * grid**2).sum(-1).sub(mean**2).sqrt()
    assert torch.allclose(refined.loc[:, 0], mean, atol=0.1)
    assert torch.allclose(refined.scale[:, 0], truth, atol=0.1)
    assert (refined.loc[:, 0] - mean).abs().sum() < (plain.loc[:, 0] - mean).abs().sum()
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
    assert all(parameter.grad is None for parameter in model.parameters())
