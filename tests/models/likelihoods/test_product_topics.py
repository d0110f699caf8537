"""ProdLDA as a description: the Trace program, from the same weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from experiments.topics.topic_model import TopicModel
from tests.models.test_word_networks import counts
from unknot.models import GraphicalModel, node
from unknot.objectives import elbo


def described(family: str, groups: dict[str, int], **more: Any) -> GraphicalModel:
    latents = [node(name, "normal", size, inferred_from=["x"]) for name, size in groups.items()]
    data = node("x", family, parents=list(groups), recognition_hidden=[6, 5], **more)
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
        model.recognition[name].load_state_dict(program.heads[name].state_dict())
    bounds: list[Tensor] = []
    for one in (program.eval(), model.eval()):
        torch.manual_seed(0)
        q = one.encode(counts().to_sparse())
        bounds.append(elbo(q, one.decode(counts().to_sparse(), q)).per_item)
    torch.testing.assert_close(*bounds)


def test_shares_of_words_and_drawn_documents() -> None:
    import unknot

    model = described("product_topics", {"topics": 3}).eval()
    shares = model.expected_data(unknot.given(4))
    torch.testing.assert_close(shares.sum(-1), torch.ones(4))
    assert model.sample_data(unknot.given(4)).sum(-1).tolist() == [100.0] * 4


def test_a_sampled_normaliser_is_for_training() -> None:
    model = described("product_topics", {"topics": 3}, sampled_words=2)
    x = counts().to_sparse()
    q = model.encode(x)
    model.decode(x, q).log_prob().sum().backward()
    weight = model.generation["x"].words.weight
    assert weight.grad.is_sparse
    torch.testing.assert_close(model.expected_data(q).sum(-1), torch.ones(5))
    model.eval()
    torch.testing.assert_close(model.decode(x, q)["x"].log_prob, model.decode(x.to_dense(), q)["x"].log_prob)
