"""Topic models as Trace programs."""

from __future__ import annotations

import pytest
import torch

import unknot
from experiments.topics.topic_corpus import made_corpus
from experiments.topics.topic_model import TopicModel
from tests.models.test_word_networks import counts
from unknot.objectives import elbo, hfvae
from unknot.train.config import TrainConfig
from unknot.train.loop import fit


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


@pytest.mark.parametrize("mixing", ["product", "linear"])
@pytest.mark.parametrize("clip", [None, 1.0])
def test_a_large_vocabulary_is_learned_from_samples(mixing: str, clip: float | None) -> None:
    documents = made_corpus(words=40)
    torch.manual_seed(0)
    model = TopicModel(40, {"topics": 4}, mixing, hidden=(8,), sampled=5)
    settings = {"epochs": 6, "batch_size": 10, "learning_rate": 1e-2, "clip_norm": clip, "log_every": 24}
    config = TrainConfig.from_dict({"objective": "elbo", "progress": False, **settings})
    losses = [record["loss"] for record in fit(model, documents, config).history]
    assert losses[-1] < losses[0] - 1


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
