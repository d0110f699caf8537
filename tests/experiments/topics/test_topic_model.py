"""Topic models as Trace programs."""

from __future__ import annotations

import pytest
import torch

import unknot
from experiments.topics.topic_model import TopicModel
from tests.models.words.test_counts import counts
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
