"""A loss per item: losses per element are summed over the item, and what is neither is refused."""

from __future__ import annotations

import pytest
import torch
from torch import Size, Tensor
from torch.nn.functional import cross_entropy

from unknot.core.item_loss import item_loss
from unknot.errors import TraceError


def square(prediction: Tensor, target: Tensor) -> Tensor:
    return (prediction - target) ** 2


def test_elements_are_summed_over_an_item_and_samples_stay() -> None:
    prediction, target = torch.randn(5, 4, 2, 3), torch.randn(4, 2, 3)
    loss, leading = item_loss("x", square, prediction, target, Size((5, 4)))
    assert leading == 2
    expected = [[square(prediction[s, b], target[b]).sum() for b in range(4)] for s in range(5)]
    torch.testing.assert_close(loss, torch.tensor(expected))


def test_one_number_per_item_is_taken_as_it_is() -> None:
    logits, classes = torch.randn(4, 3), torch.tensor([0, 2, 1, 1])

    def loss(prediction: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(prediction, target, reduction="none")

    found, leading = item_loss("y", loss, logits, classes, Size((4,)))
    assert leading == 1
    torch.testing.assert_close(found, -logits.log_softmax(-1)[torch.arange(4), classes])


@pytest.mark.parametrize(
    ("prediction", "target", "message"),
    [
        (torch.zeros(4, 3), torch.tensor(1.0), "no batch axis"),
        (torch.zeros(5, 1, 3), torch.zeros(4, 3), "pair every item with every other"),
    ],
)
def test_shapes_that_would_mix_items_are_refused(prediction: Tensor, target: Tensor, message: str) -> None:
    with pytest.raises(TraceError, match=f"site 'x': .*{message}"):
        item_loss("x", square, prediction, target, Size((4,)))


def test_one_number_for_the_whole_batch_is_refused() -> None:
    with pytest.raises(TraceError, match="reduction='none'"):
        item_loss("x", lambda a, b: square(a, b).mean(), torch.zeros(4, 3), torch.zeros(4, 3), Size((4,)))
