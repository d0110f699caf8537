"""The critic's log-term against the formula written out, and whose weights its gradient moves which way."""

from __future__ import annotations

import math

import pytest
import torch

from tests.models.test_agreement import NODES, batch_of_digits
from unknot import Trace
from unknot.errors import SpecError
from unknot.models.critic import Critic
from unknot.models.graphical_model import GraphicalModel
from unknot.objectives import semi_supervised

LIGHT = {"family": "direction", "size": 3, "inferred_from": ["x"], "labels": True}


def model_with(critic: float, **changed: object) -> GraphicalModel:
    torch.manual_seed(0)
    return GraphicalModel({"nodes": {**NODES, **changed}, "critic": critic}, (1, 8, 8))


def test_the_term_is_minus_the_price_times_the_critics_log_probability() -> None:
    model, batch = model_with(7.0), batch_of_digits()
    q, p = model(batch)
    assert isinstance(model.critic, Critic)
    network = model.critic.networks["digit"]
    said = network(q["style"].dist.mean).detach().log_softmax(-1)
    expected, known = [], []
    for b in range(40):
        label = int(batch["digit"][b])
        known.append(label >= 0)
        reading = q["digit"].dist.probs[b].argmax() if label < 0 else label
        expected.append(-7.0 * float(said[b, int(reading)]))
    assert {True, False} == set(known)  # the case has labels and readings
    torch.testing.assert_close(p["critic_digit"].log_prob, torch.tensor(expected), rtol=1e-4, atol=1e-4)


def test_it_is_a_term_of_its_own_and_only_in_training() -> None:
    model, batch = model_with(7.0), batch_of_digits()
    q, p = model(batch)
    torch.testing.assert_close(semi_supervised(q, p)["log_term[critic_digit]"], p["critic_digit"].log_prob)
    assert "critic_digit" not in model.eval()(batch)[1]


def test_every_draw_has_its_term() -> None:
    _, p = model_with(7.0)(batch_of_digits(), samples=3)
    assert p["critic_digit"].log_prob.shape == (3, 40)


def test_a_direction_is_read_by_its_density() -> None:
    model = model_with(2.0, light=LIGHT, x={**NODES["x"], "parents": ["digit", "style", "light"]})
    batch = batch_of_digits()
    q = model.encode(batch.x)
    terms = model.critic(q, model.temperature)  # type: ignore[misc]
    assert set(terms) == {"digit", "light"}
    reading = q["light"].dist.mean_direction.detach()
    outputs = model.critic.networks["light"](q["style"].dist.mean)  # type: ignore[union-attr, index]
    said = Trace()
    model.family_of("light").site(said, outputs, reading, model.temperature, None)
    torch.testing.assert_close(terms["light"], -2.0 * said["light"].log_prob)


def test_the_model_and_the_critic_pull_in_opposite_directions() -> None:
    """A step up the term lowers log c through the means, and raises it through the critic's weights."""
    model, batch = model_with(5.0), batch_of_digits()
    q = model.encode(batch.x, {"digit": batch["digit"]})
    critic = model.critic
    assert critic is not None
    mean = q["style"].dist.mean
    mean.retain_grad()
    critic(q, model.temperature)["digit"].mean().backward()
    weights = list(critic.parameters())
    found = [w.grad.clone() for w in weights if w.grad is not None]
    slope = mean.grad
    # the same by hand: log c, with plain gradients
    again = mean.detach().requires_grad_()
    value = torch.where(batch["digit"] >= 0, batch["digit"], q["digit"].dist.probs.argmax(-1))
    log_c = critic.networks["digit"](again).log_softmax(-1)[torch.arange(40), value].mean()
    plain = torch.autograd.grad(log_c, [again, *weights])
    torch.testing.assert_close(slope, -5.0 * plain[0])
    for one, two in zip(found, plain[1:], strict=True):
        torch.testing.assert_close(one, two)  # price times minus one over the price, of minus log c


def test_the_best_critic_measures_the_information() -> None:
    """E log c + H(v) = I(v; r) for c = p(v | r), and less for any other: by sums over a table of both."""
    torch.manual_seed(0)
    joint = torch.rand(4, 3).double().pow(3)
    joint /= joint.sum()
    of_r, of_v = joint.sum(1, keepdim=True), joint.sum(0)
    information = float((joint * (joint / (of_r * of_v)).log()).sum())
    entropy = float(-(of_v * of_v.log()).sum())
    best = float((joint * (joint / of_r).log()).sum()) + entropy
    assert math.isclose(best, information, abs_tol=1e-12)
    for _ in range(20):
        other = torch.randn(4, 3).double().log_softmax(-1)
        assert float((joint * other).sum()) + entropy < information


def test_a_model_without_a_style_has_nothing_to_read() -> None:
    nodes = {"digit": NODES["digit"], "x": {"family": "bernoulli", "parents": ["digit"]}}
    with pytest.raises(SpecError, match="Leave critic out"):
        GraphicalModel({"nodes": nodes, "critic": 1.0}, (1, 8, 8))
