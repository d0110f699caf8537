"""ProdLDA as a description: the Trace program, from the same weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import unknot
from experiments.topics.topic_model import TopicModel
from tests.models.words.test_counts import counts
from unknot.models import GraphicalModel, node
from unknot.objectives import elbo


def described(family: str, groups: dict[str, int], **more: Any) -> GraphicalModel:
    latents = [node(name, "normal", size, inferred_from=["x"]) for name, size in groups.items()]
    data = node(
        "x", {"name": family, **more}, parents=list(groups), encoder={"name": "mlp", "hidden": [6, 5]}
    )
    return GraphicalModel([*latents, data], shape=(7,))


@pytest.mark.parametrize("mixing", ["product", "mixture"])
def test_both_forms_are_one_model(mixing: str) -> None:
    groups = {"first": 3, "second": 2}
    program = TopicModel(7, groups, mixing, hidden=(6, 5), concentration=0.3)
    torch.nn.init.normal_(program.decoder.words.weight)
    model = described(f"{mixing}_topics", groups, concentration=0.3)
    model.trunk.load_state_dict(program.trunk.state_dict())
    model.generation["x"].load_state_dict(program.decoder.state_dict())
    for name in groups:
        model.recognition[name].network.load_state_dict(program.heads[name].state_dict())  # type: ignore[union-attr]
    bounds: list[Tensor] = []
    for one in (program.eval(), model.eval()):
        torch.manual_seed(0)
        q = one.encode(counts().to_sparse())
        bounds.append(elbo(q, one.decode(counts().to_sparse(), q)).per_item)
    torch.testing.assert_close(*bounds)


def test_shares_of_words_and_drawn_documents() -> None:
    model = described("product_topics", {"topics": 3}).eval()
    shares = model.expected_data(unknot.given(4))
    torch.testing.assert_close(shares.sum(-1), torch.ones(4))
    assert model.sample_data(unknot.given(4)).sum(-1).tolist() == [100.0] * 4


def test_words_are_a_mean_of_the_topics() -> None:
    model = described("mixture_topics", {"topics": 2}).eval()
    topics = model.expected_data(unknot.given(2, {"topics": torch.tensor([[40.0, 0.0], [0.0, 40.0]])}))
    mixed = model.expected_data(unknot.given(1, {"topics": torch.zeros(1, 2)}))
    torch.testing.assert_close(mixed[0], topics.mean(0))
