"""Agreement between an item and its jittered view, against the formula written out."""

from __future__ import annotations

import pytest
import torch

from unknot import Trace
from unknot.data import load
from unknot.data.label_budget import LabelBudget
from unknot.errors import SpecError
from unknot.models.direction import Direction
from unknot.models.families import family
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import node, read_spec
from unknot.models.training_terms import add_training_terms
from unknot.objectives import elbo, semi_supervised

NODES = {
    "digit": {"family": "concrete", "size": 10, "inferred_from": ["x"], "labels": True},
    "style": {"family": "normal", "size": 3, "inferred_from": ["x", "digit"]},
    "x": {"family": "bernoulli", "parents": ["digit", "style"]},
}


def model_for(kind: str = "concrete", **settings: object) -> GraphicalModel:
    nodes = {**NODES, "digit": {**NODES["digit"], "family": kind}}
    torch.manual_seed(0)
    model = GraphicalModel({"nodes": nodes, "augment": "affine", **settings}, (1, 8, 8))
    with torch.no_grad():
        model.recognition["digit"][-1].weight.mul_(20.0)  # type: ignore[index] # some readings surer than others
    return model


def batch_of_digits(labels: int = 700):  # type: ignore[no-untyped-def]
    data = load("digits").split("train")
    return LabelBudget.draw(data, 0, digit=labels).apply(data).batch(range(40))


@pytest.mark.parametrize("kind", ["concrete", "categorical"])
@pytest.mark.parametrize("samples", [None, 3])
def test_the_factor_is_the_cross_entropy_of_labels_and_sure_readings(kind: str, samples: int | None) -> None:
    model, batch = model_for(kind, agreement=7.0, confidence=0.97), batch_of_digits()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0  # the same features twice
    torch.manual_seed(1)
    jittered = model.jitter(batch.x)  # type: ignore[misc]
    torch.manual_seed(1)
    _, p = model(batch, samples)
    plain = model.recognition["digit"](model.trunk(batch.x)).detach().softmax(-1)
    log_probs = model.recognition["digit"](model.trunk(jittered)).detach().log_softmax(-1)
    expected, kinds = [], set()
    for b in range(40):
        label = int(batch["digit"][b])
        confidence, reading = float(plain[b].max()), int(plain[b].argmax())
        wanted = label if label >= 0 else reading if confidence >= 0.97 else None
        kinds.add((label >= 0, wanted is None))
        expected.append(0.0 if wanted is None else 7.0 * float(log_probs[b, wanted]))
    assert kinds == {(True, False), (False, True), (False, False)}  # the case has items of all kinds
    found = p["agreement_digit"].log_prob
    torch.testing.assert_close(found.reshape(-1, 40)[0], torch.tensor(expected), rtol=1e-4, atol=1e-5)


def test_it_is_a_term_of_its_own() -> None:
    model, batch = model_for(agreement=7.0, confidence=0.0), batch_of_digits()
    q, p = model(batch)
    for objective in (elbo, semi_supervised):
        terms = objective(q, p)
        torch.testing.assert_close(terms["log_term[agreement_digit]"], p["agreement_digit"].log_prob)
        torch.testing.assert_close(terms["reconstruction"], p["x"].log_prob)


def test_the_reading_carries_no_gradient() -> None:
    logits = torch.randn(4, 10, requires_grad=True)
    q = Trace()
    q.concrete(logits, 0.66, name="digit")
    reading = model_for().family_of("digit").reading(q["digit"].dist)
    assert not reading.value.requires_grad
    assert not reading.confidence.requires_grad


def test_the_generator_sees_the_items_as_they_are() -> None:
    model, batch = model_for(agreement=1.0), batch_of_digits()
    _, p = model(batch)
    torch.testing.assert_close(p["x"].value, batch.x, rtol=0, atol=0)
    _, p = model_for()(batch)
    assert not torch.allclose(p["x"].value, batch.x)  # jitter alone takes the items' place


def test_only_in_training() -> None:
    model, batch = model_for(agreement=1.0), batch_of_digits()
    assert "agreement_digit" not in model.eval()(batch)[1]
    assert "agreement_digit" not in model_for()(batch)[1]


def test_readings_of_the_families() -> None:
    kappa = torch.tensor([4.0])
    pole = torch.tensor([[0.0, 0.0, 1.0]])
    draws = Direction(pole, kappa).rsample((100_000,))[..., 2]
    light = family(node("light", "direction", 3, inferred_from=["x"])).reading(Direction(pole, kappa))
    assert abs(light.confidence - draws.mean()) < 5 * draws.std() / 100_000**0.5
    torch.testing.assert_close(light.value, pole)
    switches = family(node("on", "bernoulli", 2, inferred_from=["x"]))
    answers = switches.reading(torch.distributions.Bernoulli(torch.tensor([[0.9, 0.4]])))
    torch.testing.assert_close(answers.confidence, torch.tensor([0.6]))
    assert answers.value.tolist() == [[1.0, 0.0]]
    style = family(node("style", "normal", 2, inferred_from=["x"]))
    reading = style.reading(torch.distributions.Normal(torch.ones(4, 2), 1.0))
    assert reading.value.tolist() == [[1.0, 1.0]] * 4
    assert reading.confidence.tolist() == [1.0] * 4


def test_directions_agree_by_their_density() -> None:
    nodes = {
        "light": {"family": "direction", "size": 3, "inferred_from": ["x"], "labels": True},
        "x": {"family": "bernoulli", "parents": ["light"]},
    }
    torch.manual_seed(0)
    model = GraphicalModel(
        {"nodes": nodes, "augment": "affine", "agreement": 2.0, "confidence": 0.0}, (1, 8, 8)
    )
    labels = torch.full((5, 3), float("nan"))
    labels[0] = torch.tensor([0.0, 1.0, 0.0])
    q = model.encode(torch.rand(5, 1, 8, 8), {"light": labels})
    p, second = Trace(), torch.rand(5, 1, 8, 8)
    model.eval()  # no dropout: the second view's features are the same when computed again
    add_training_terms(model, q, p, second)
    outputs = model.recognition["light"](model.trunk(second))
    mean = torch.nn.functional.normalize(outputs[:, :3], dim=-1)
    kappa = torch.nn.functional.softplus(outputs[:, 3]) + 1e-3
    wanted = q["light"].dist.mean_direction.detach().clone()
    wanted[0] = labels[0]
    torch.testing.assert_close(p["agreement_light"].log_prob, 2 * Direction(mean, kappa).log_prob(wanted))


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(SpecError, match="say augment too"):
        read_spec({"nodes": NODES, "agreement": 1.0})
    with pytest.raises(SpecError, match="confidence is a number from 0 to 1, but got 2"):
        read_spec({"nodes": NODES, "augment": "affine", "confidence": 2.0})
    with pytest.raises(SpecError, match="how image data is recognized"):
        read_spec({"nodes": {**NODES, "digit": {**NODES["digit"], "channels": [8]}}})


def test_a_class_without_labels_pays_the_divergence_of_its_two_views() -> None:
    nodes = {**NODES, "digit": {**NODES["digit"], "labels": False}}
    torch.manual_seed(0)
    model, batch = (
        GraphicalModel({"nodes": nodes, "augment": "affine", "agreement": 7.0}, (1, 8, 8)),
        batch_of_digits(),
    )
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0  # the same features twice
    torch.manual_seed(1)
    jittered = model.jitter(batch.x)  # type: ignore[misc]
    torch.manual_seed(1)
    _, p = model(batch)
    first = model.recognition["digit"](model.trunk(batch.x)).softmax(-1)
    second = model.recognition["digit"](model.trunk(jittered)).softmax(-1)
    slow = [
        -7.0 * sum(a * (a / b).log() for a, b in zip(one, other, strict=True))
        for one, other in zip(first, second, strict=True)
    ]
    torch.testing.assert_close(p["agreement_digit"].log_prob, torch.stack(slow), rtol=1e-4, atol=1e-5)
    bias = model.recognition["digit"][-1].bias  # type: ignore[index]
    (gradient,) = torch.autograd.grad(p["agreement_digit"].log_prob.sum(), bias)
    assert bool(gradient.abs().sum() > 0)
