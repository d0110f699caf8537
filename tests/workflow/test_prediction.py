"""Predictions of any program: deterministic, known values replace them, each against its distribution."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

import unknot
from tests.workflow.models import untrained
from unknot.core.handlers import modes
from unknot.core.program import Program, as_program
from unknot.models import node
from unknot.workflow.prediction import best_candidates, mode_trace, predict, site_prediction

NODES = [
    node("digit", "concrete", 4, inferred_from=["x"], labels=True),
    node("style", "normal", 3, inferred_from=["x", "digit"]),
    node("x", "bernoulli", parents=["digit", "style"]),
]


def test_predictions_are_deterministic_and_known_values_replace_them() -> None:
    model, x = untrained(NODES, (1, 8, 8)), torch.rand(5, 1, 8, 8)
    one, two = model.predict(x), model.predict(x)
    assert torch.equal(one.predictions["style"], two.predictions["style"])
    torch.testing.assert_close(one.predictions["digit"].sum(-1), torch.ones(5))
    assert torch.equal(one.values["digit"].argmax(-1), one.predictions["digit"].argmax(-1))
    fixed = model.predict(x, {"digit": torch.full((5,), 3)})
    assert (fixed.values["digit"].argmax(-1) == 3).all()
    assert not torch.allclose(fixed.predictions["style"], one.predictions["style"])


def test_long_inputs_go_through_in_parts() -> None:
    model, x = untrained(NODES, (1, 8, 8)), torch.rand(2100, 1, 8, 8)
    whole = predict(model.program, x)
    torch.testing.assert_close(model.predict(x).predictions["style"], whole.predictions["style"])


class Mixed:
    """A program with every kind of site that reports."""

    def encode(self, x: torch.Tensor, labels: object = None) -> unknot.Trace:
        q = unknot.Trace()
        q.categorical(logits=x, name="class", gradient="enumerate")
        q.bernoulli(logits=x, name="answers", event_dims=1)
        q.bernoulli(logits=x[:, 0], name="answer")
        q.gamma(softplus(x) + 1, 2.0, name="rates", event_dims=1)
        q.normal(x[:, 0], 1.0, name="number")
        return q


def test_every_kind_of_site_reports_by_item() -> None:
    x = torch.randn(6, 3)
    q = mode_trace(as_program(Mixed()), x)
    torch.testing.assert_close(site_prediction(q["class"]), x.softmax(-1))
    torch.testing.assert_close(site_prediction(q["answers"]), x.sigmoid())
    torch.testing.assert_close(site_prediction(q["answer"]), x[:, :1].sigmoid())
    torch.testing.assert_close(site_prediction(q["rates"]), (softplus(x) + 1) / 2)
    assert site_prediction(q["number"]).shape == (6, 1)


def test_a_program_may_add_predictions_of_its_own() -> None:
    class Counting(Mixed):
        def predictions(self, q: unknot.Trace) -> dict[str, torch.Tensor]:
            shares = site_prediction(q["class"])
            return {"count": torch.cat([torch.zeros(len(shares), 1), shares], 1)}

    said = predict(as_program(Counting()), torch.randn(6, 3)).predictions
    assert said["count"].shape == (6, 4)
    assert bool((said["count"][:, 0] == 0).all())


# The best of several candidates: the largest bound, item by item, against a program whose bound is known exactly.


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
