"""The best of several candidates: the largest bound, item by item, against a program whose bound is known exactly."""

from __future__ import annotations

import torch
from torch import Tensor

import unknot
from unknot.core.handlers import modes
from unknot.core.program import Program, as_program
from unknot.workflow.candidates import best_candidates
from unknot.workflow.prediction import predict


class Signs:
    """x is y times two, up to noise; the encoder always says one, and offers minus one for some items."""

    def __init__(self, offers: list[tuple[int, int]]) -> None:
        self.offers = offers

    def encode(self, x: Tensor, labels: dict[str, Tensor] | None = None) -> unknot.Trace:
        q = unknot.Trace()
        told = None if labels is None else unknot.partial(labels["y"])
        q.categorical(logits=torch.tensor([0.0, 1.0]).expand(len(x), 2), value=told, name="y", event_dims=0)
        return q

    def decode(self, x: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        y = p.categorical(logits=torch.zeros(2), value=q["y"], name="y")
        p.normal(4.0 * y - 2.0, 1.0, value=x, name="x")
        return p

    def candidates(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        item, y = (torch.tensor([offer[i] for offer in self.offers], dtype=torch.long) for i in (0, 1))
        return item, {"y": y}

    def candidate_traces(self, x: Tensor, labels: dict[str, Tensor]) -> tuple[unknot.Trace, unknot.Trace]:
        q = self.encode(x, labels)
        return q, self.decode(x, q)


X = torch.tensor([-2.0, 2.0, -2.0, 2.0])


def test_the_greatest_bound_wins_and_other_items_are_left_alone() -> None:
    program = Signs([(0, 1), (0, 0), (3, 1), (3, 0)])
    with torch.no_grad(), modes():
        told = best_candidates(as_program(program), X)
    assert told is not None
    assert told["y"].tolist() == [0, -1, -1, 1]
    # the third is read as the encoder is drawn to, though it is wrong
    assert predict(as_program(program), X).values["y"].tolist() == [0, 1, 1, 1]


def test_the_order_of_readings_does_not_matter_and_equals_are_one() -> None:
    offers = [(0, 1), (0, 0), (3, 1), (3, 0), (0, 0)]
    with torch.no_grad(), modes():
        one, two = (best_candidates(as_program(Signs(some)), X) for some in (offers, offers[::-1]))
    assert one is not None
    assert two is not None
    assert torch.equal(one["y"], two["y"])


def test_where_there_is_nothing_to_choose_nothing_is_told() -> None:
    with torch.no_grad(), modes():
        assert best_candidates(as_program(Signs([])), X) is None
        assert best_candidates(Program(), X) is None
    known = {"y": torch.tensor([1, 0, 1, 0])}
    assert predict(as_program(Signs([(0, 0)])), X, known).values["y"].tolist() == [1, 0, 1, 0]
