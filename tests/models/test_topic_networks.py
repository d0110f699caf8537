"""Networks of topic models."""

from __future__ import annotations

import pytest
import torch
from torch import Size

from tests.models.test_word_networks import counts
from unknot.errors import SpecError
from unknot.models.topic_networks import TopicDecoder, TopicTrunk, topic_head


def test_a_trunk_reads_sparse_and_dense_alike() -> None:
    trunk = TopicTrunk(Size((7,)), (4, 3), word_dropout=0.5).eval()
    torch.testing.assert_close(trunk(counts()), trunk(counts().to_sparse()))
    trunk.train()
    assert trunk(counts().to_sparse()).shape == (5, 3)


@pytest.mark.parametrize("sparse", [False, True])
def test_word_dropout_leaves_out_words_and_keeps_the_mean(sparse: bool) -> None:
    torch.manual_seed(0)
    trunk = TopicTrunk(Size((7,)), (2,), word_dropout=0.5)
    x = torch.ones(2000, 7)
    seen = trunk._thinned(x.to_sparse() if sparse else x)
    seen = seen.to_dense() if sparse else seen
    assert set(seen.unique().tolist()) == {0.0, 2.0}
    assert abs(float(seen.mean()) - 1) < 6 / 14000**0.5  # six standard errors of 14,000 fair coins


def test_a_head_is_standard_in_a_batch() -> None:
    made = topic_head(4, 6)(torch.randn(50, 4))
    torch.testing.assert_close(made.mean(0), torch.zeros(6), atol=1e-5, rtol=0)
    torch.testing.assert_close(made.std(0, correction=0), torch.ones(6), atol=1e-3, rtol=0)


def test_a_mixture_mixes_distributions() -> None:
    decoder = TopicDecoder(2, 3, "mixture")
    z = torch.tensor([[0.0, 0.0], [30.0, 0.0]])
    shares = decoder(z).softmax(-1)
    first, second = (decoder.weight + decoder.bias).softmax(-1)
    torch.testing.assert_close(shares, torch.stack([(first + second) / 2, first]))


def test_a_product_multiplies_them() -> None:
    decoder = TopicDecoder(2, 3, "product").eval()  # batch norm at its start: nothing but a factor near one
    z = torch.tensor([[0.0, 0.0]])
    by_hand = (decoder.weight.softmax(-1).log().mean(0)).softmax(-1)  # the geometric mean
    torch.testing.assert_close(decoder(z).softmax(-1)[0], by_hand, rtol=1e-4, atol=1e-4)


def test_weights_of_topics_are_what_logits_are_made_of() -> None:
    decoder = TopicDecoder(2, 3, "product")
    decoder(torch.randn(50, 2))  # the norm learns a scale
    decoder.eval()
    shares = torch.tensor([[0.25, 0.75]])
    moved = decoder(shares.log()) - decoder(torch.zeros(1, 2))
    torch.testing.assert_close(moved, (shares - 0.5) @ decoder.topic_weights())


def test_linear_topics_and_classes_add_up() -> None:
    decoder = TopicDecoder(2, 3, "linear", classes=2)
    assert decoder.classes is not None
    torch.nn.init.normal_(decoder.classes)
    values = torch.tensor([[0.5, -1.0, 0.0, 1.0]])
    by_hand = 0.5 * decoder.weight[0] - decoder.weight[1] + decoder.classes[1]
    torch.testing.assert_close(decoder(values)[0], by_hand)
    assert decoder(torch.randn(4, 5, 4)).shape == (4, 5, 3)


def test_without_scale_it_is_not_learned() -> None:
    learned = [p for p in TopicDecoder(2, 3, "product", scale=False).parameters() if p.requires_grad]
    assert len(learned) == 2  # the topics and the norm's shift
    with pytest.raises(SpecError, match="mixed as product, mixture, linear"):
        TopicDecoder(2, 3, "sum")
