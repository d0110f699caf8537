"""Predictions of any program: deterministic, known values replace them, each against its distribution."""

from __future__ import annotations

import torch
from torch.nn.functional import softplus

import unknot
from tests.workflow.models import untrained
from unknot.core.program import as_program
from unknot.models import node
from unknot.workflow.prediction import mode_trace, predict, site_prediction

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
