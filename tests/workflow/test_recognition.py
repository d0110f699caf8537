"""Recognition of any program: deterministic, known values replace answers, summaries against the distributions."""

from __future__ import annotations

import torch
from torch.nn.functional import softplus

import unknot
from tests.workflow.models import untrained
from unknot.models import node
from unknot.workflow.recognition import best_trace, recognise, summary

NODES = [
    node("digit", "concrete", 4, recognised_from=["x"], labels=True),
    node("style", "normal", 3, recognised_from=["x", "digit"]),
    node("x", "bernoulli", parents=["digit", "style"]),
]


def test_recognition_is_deterministic_and_known_values_replace_answers() -> None:
    model, x = untrained(NODES, (1, 8, 8)), torch.rand(5, 1, 8, 8)
    one, two = model.recognise(x), model.recognise(x)
    assert torch.equal(one.summaries["style"], two.summaries["style"])
    torch.testing.assert_close(one.summaries["digit"].sum(-1), torch.ones(5))
    assert torch.equal(one.values["digit"].argmax(-1), one.summaries["digit"].argmax(-1))
    fixed = model.recognise(x, {"digit": torch.full((5,), 3)})
    assert (fixed.values["digit"].argmax(-1) == 3).all()
    assert not torch.allclose(fixed.summaries["style"], one.summaries["style"])


def test_long_inputs_go_through_in_parts() -> None:
    model, x = untrained(NODES, (1, 8, 8)), torch.rand(2100, 1, 8, 8)
    whole = recognise(model.module, x)
    torch.testing.assert_close(model.recognise(x).summaries["style"], whole.summaries["style"])


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
    q = best_trace(Mixed(), x)
    torch.testing.assert_close(summary(q["class"]), x.softmax(-1))
    torch.testing.assert_close(summary(q["answers"]), x.sigmoid())
    torch.testing.assert_close(summary(q["answer"]), x[:, :1].sigmoid())
    torch.testing.assert_close(summary(q["rates"]), (softplus(x) + 1) / 2)
    assert summary(q["number"]).shape == (6, 1)


def test_a_program_may_say_its_answers_itself() -> None:
    class Counting(Mixed):
        def summaries(self, q: unknot.Trace) -> dict[str, torch.Tensor]:
            shares = summary(q["class"])
            return {"count": torch.cat([torch.zeros(len(shares), 1), shares], 1)}

    said = recognise(Counting(), torch.randn(6, 3)).summaries
    assert said["count"].shape == (6, 4)
    assert bool((said["count"][:, 0] == 0).all())
