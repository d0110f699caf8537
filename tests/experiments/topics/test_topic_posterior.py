"""Posteriors that are refined: nearer to the truth, the model untouched."""

from __future__ import annotations

import torch

from experiments.topics.topic_model import TopicModel
from experiments.topics.topic_posterior import posterior
from unknot.models.words.counts import word_log_likelihood


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
