"""Agreement between an item and its jittered view, against the formula written out."""

from __future__ import annotations

import pytest
import torch

from unknot import Trace
from unknot.data import load
from unknot.data.label_budget import LabelBudget
from unknot.errors import SpecError
from unknot.models.agreement import Reading, add_agreement
from unknot.models.direction import Direction
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import read_spec
from unknot.objectives import elbo, semi_supervised

NODES = {
    "digit": {"family": "concrete", "size": 10, "recognised_from": ["x"], "labels": True},
    "style": {"family": "normal", "size": 3, "recognised_from": ["x", "digit"]},
    "x": {"family": "bernoulli", "parents": ["digit", "style"]},
}


def model_for(family: str = "concrete", **settings: object) -> GraphicalModel:
    nodes = {**NODES, "digit": {**NODES["digit"], "family": family}}
    torch.manual_seed(0)
    model = GraphicalModel({"nodes": nodes, "augment": "affine", **settings}, (1, 8, 8))
    with torch.no_grad():
        model.recognition["digit"][-1].weight.mul_(20.0)  # type: ignore[index] # some readings surer than others
    return model


def batch_of_digits(labels: int = 700):  # type: ignore[no-untyped-def]
    data = load("digits").split("train")
    return LabelBudget.draw(data, 0, digit=labels).apply(data).batch(range(40))


@pytest.mark.parametrize("family", ["concrete", "categorical"])
@pytest.mark.parametrize("samples", [None, 3])
def test_the_factor_is_the_cross_entropy_of_sure_readings_of_unlabelled_items(
    family: str, samples: int | None
) -> None:
    model, batch = model_for(family, agreement=7.0, confidence=0.16), batch_of_digits()
    q, p = model(batch, samples)
    plain = model.eval().recognise(batch.x)
    reading, sure = plain.summaries["digit"].max(-1)[1], plain.summaries["digit"].max(-1)[0] >= 0.16
    logits = q["digit"].dist.logits.detach()
    logits = logits.reshape(-1, *logits.shape[-2:])[0]  # the same at every draw
    expected = []
    for b in range(40):
        counts = bool(sure[b]) and int(batch["digit"][b]) < 0
        expected.append(7.0 * float(logits[b].log_softmax(-1)[reading[b]]) if counts else 0.0)
    assert 0 < sum(e != 0 for e in expected) < 40  # the case has items of both kinds
    found = p["agreement_digit"].log_prob
    torch.testing.assert_close(found.reshape(-1, 40)[0], torch.tensor(expected), rtol=1e-4, atol=1e-5)


def test_it_is_a_term_of_its_own() -> None:
    model, batch = model_for(agreement=7.0, confidence=0.0), batch_of_digits()
    q, p = model(batch)
    for objective in (elbo, semi_supervised):
        terms = objective(q, p)
        torch.testing.assert_close(terms["factor[agreement_digit]"], p["agreement_digit"].log_prob)
        torch.testing.assert_close(terms["reconstruction"], p["x"].log_prob)


def test_the_reading_carries_no_gradient_and_leaves_no_mark() -> None:
    model, batch = model_for(agreement=1.0, confidence=0.0), batch_of_digits()
    before = {n: b.clone() for n, b in model.named_buffers()}
    readings = model._readings(batch.x)
    assert not readings["digit"].value.requires_grad
    assert not readings["digit"].confidence.requires_grad
    assert model.training
    for name, buffer in model.named_buffers():
        torch.testing.assert_close(buffer, before[name], rtol=0, atol=0)


def test_only_in_training() -> None:
    model, batch = model_for(agreement=1.0), batch_of_digits()
    assert "agreement_digit" not in model.eval()(batch)[1]
    assert "agreement_digit" not in model_for()(batch)[1]


def test_directions_agree_by_their_density_and_are_sure_by_their_mean_cosine() -> None:
    mean = torch.nn.functional.normalize(torch.randn(3, 3), dim=-1)
    kappa = torch.tensor([0.5, 5.0, 50.0])
    q, p = Trace(), Trace()
    q.variable(Direction(mean, kappa), name="light")
    other = torch.nn.functional.normalize(mean + 0.1, dim=-1)
    add_agreement(q, p, {"light": Reading(other, torch.tensor([0.1, 0.8, 0.98]))}, 2.0, 0.5)
    expected = 2 * Direction(mean, kappa).log_prob(other) * torch.tensor([0.0, 1.0, 1.0])
    torch.testing.assert_close(p["agreement_light"].log_prob, expected)


def test_confidences_of_the_families() -> None:
    from unknot.models.families import family
    from unknot.models.spec import node

    light = family(node("light", "direction", 3, recognised_from=["x"]))
    outputs = torch.tensor([[0.0, 0.0, 1.0, 4.0]])
    kappa = torch.nn.functional.softplus(torch.tensor([4.0])) + 1e-3
    draws = Direction(torch.tensor([[0.0, 0.0, 1.0]]), kappa).rsample((100_000,))[..., 2]
    error = 5 * draws.std() / 100_000**0.5
    assert abs(light.confidence(outputs) - draws.mean()) < error
    switches = family(node("on", "bernoulli", 2, recognised_from=["x"]))
    torch.testing.assert_close(switches.confidence(torch.tensor([[-3.0, 0.0]])), torch.tensor([0.5]))
    style = family(node("style", "normal", 2, recognised_from=["x"]))
    assert style.confidence(torch.zeros(4, 4)).tolist() == [1.0] * 4


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(SpecError, match="say augment too"):
        read_spec({"nodes": NODES, "agreement": 1.0})
    with pytest.raises(SpecError, match="confidence is from 0 to 1"):
        read_spec({"nodes": NODES, "augment": "affine", "confidence": 2.0})
    with pytest.raises(SpecError, match="how image data is recognised"):
        read_spec({"nodes": {**NODES, "digit": {**NODES["digit"], "channels": [8]}}})
