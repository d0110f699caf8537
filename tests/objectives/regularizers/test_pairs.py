"""Pairs of items: the penalty by loops, labels and evidence inside it, and what it teaches."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.objectives.regularizers.programs import batch_of_digits, hand_written, model_for, regularized
from unknot import Trace, partial
from unknot.errors import SpecError
from unknot.objectives.regularizers.pairs import pairs


class Items:
    """The ids of a batch."""

    def __init__(self, ids: list[int]) -> None:
        self.ids = torch.tensor(ids)


LOGITS = torch.tensor([[2.0, 0.0, -1.0], [0.0, 1.0, 0.5], [0.3, -0.2, 1.0]])


def penalty(
    must: list[list[int]], cannot: list[list[int]], value: object = None, family: str = "concrete"
) -> Tensor:
    q = Trace()
    if family == "concrete":
        q.concrete(LOGITS, 0.5, value=value, name="y")
    else:
        q.categorical(logits=LOGITS, value=value, name="y", gradient="enumerate")
    found = pairs(None, Items([7, 3, 5]), q, Trace(), site="y", must_link=must, cannot_link=cannot)  # type: ignore[arg-type]
    return found["pairs_y"]


@pytest.mark.parametrize("family", ["concrete", "enumerated"])
def test_each_item_bears_half_of_its_pairs(family: str) -> None:
    """Pairs with an item that is not in the batch (1) do not count."""
    probs = LOGITS.softmax(-1)
    same, apart = -(probs[0] @ probs[1]).log(), -(1 - probs[1] @ probs[2]).log()
    found = penalty([[7, 3], [7, 1]], [[5, 3]], family=family)
    torch.testing.assert_close(found, torch.stack([same, same + apart, apart]) / 2)


@pytest.mark.parametrize("family", ["concrete", "enumerated"])
def test_a_known_class_makes_it_the_label_of_the_other(family: str) -> None:
    found = penalty([[7, 3]], [[7, 5]], partial([1, -1, -1]), family)
    probs = LOGITS.softmax(-1)
    expected = -torch.stack([probs[1, 1].log(), (1 - probs[2, 1]).log()]) / 2
    torch.testing.assert_close(found[1:], expected)


def test_evidence_counts() -> None:
    found = penalty([[7, 3]], [], partial(allowed=[[False, True, True], [True] * 3, [True] * 3]))
    probs = LOGITS.softmax(-1)
    given = probs[0] * torch.tensor([0.0, 1.0, 1.0]) / probs[0, 1:].sum()
    torch.testing.assert_close(found[1], -(given @ probs[1]).log() / 2)


def test_sure_predictions_stay_finite() -> None:
    found = penalty([[7, 3]], [[3, 5]], partial([0, 1, 1]))
    assert bool(found.isfinite().all())
    assert bool((found > 5).all())


def test_no_pairs_no_penalty() -> None:
    assert penalty([], []).eq(0).all()


@pytest.mark.parametrize("program", [model_for, hand_written])
def test_it_is_a_regularizer_by_name(program) -> None:  # type: ignore[no-untyped-def]
    model, batch = program(), batch_of_digits()
    ids = batch.ids.tolist()
    settings = {"weight": 2.0, "site": "digit", "must_link": [ids[:2]], "cannot_link": [ids[2:4]]}
    _, p = regularized(model, batch, pairs=settings)
    penalties = p["pairs_digit"].log_prob
    assert bool((penalties[:4] < 0).any())
    assert penalties[4:].eq(0).all()
    penalties.sum().backward()


def test_a_site_that_is_no_class_is_refused() -> None:
    q = Trace()
    q.concrete(LOGITS, 0.5, name="y")
    with pytest.raises(SpecError, match="the encoder has no site of classes 'z'; there are: y"):
        pairs(None, Items([7, 3, 5]), q, Trace(), site="z")  # type: ignore[arg-type]
