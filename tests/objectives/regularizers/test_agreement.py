"""Agreement between an item and an augmented view of it, against the formula written out."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tests.objectives.regularizers.programs import (
    NODES,
    batch_of_digits,
    hand_written,
    model_for,
    regularized,
    without_dropout,
)
from unknot.errors import SpecError
from unknot.models.families.direction import Direction
from unknot.models.graphical_model import GraphicalModel
from unknot.objectives import elbo, semi_supervised
from unknot.objectives.regularizers.agreement import agreement

LOUD = {"weight": 7.0, "confidence": 0.97}


def logits_of(model: GraphicalModel, x: torch.Tensor) -> torch.Tensor:
    return model.encode(x)["digit"].dist.logits.detach()


@pytest.mark.parametrize("kind", ["concrete", "categorical"])
@pytest.mark.parametrize("samples", [None, 3])
def test_the_penalty_is_the_cross_entropy_with_labels_and_confident_predictions(
    kind: str, samples: int | None
) -> None:
    model, batch = without_dropout(model_for(kind, augment="affine")), batch_of_digits()
    torch.manual_seed(1)
    view = model.augment(batch.x, scored=False)
    torch.manual_seed(1)
    _, p = regularized(model, batch, samples, agreement=LOUD)
    plain = logits_of(model, batch.x).reshape(-1, 40, 10)[0].softmax(-1)
    log_probs = logits_of(model, view).reshape(-1, 40, 10)[0].log_softmax(-1)
    expected, kinds = [], set()
    for b in range(40):
        label = int(batch["digit"][b])
        confidence, prediction = float(plain[b].max()), int(plain[b].argmax())
        target = label if label >= 0 else prediction if confidence >= 0.97 else None
        kinds.add((label >= 0, target is None))
        expected.append(0.0 if target is None else 7.0 * float(log_probs[b, target]))
    assert kinds == {(True, False), (False, True), (False, False)}  # the case has items of all kinds
    found = p["agreement_digit"].log_prob
    torch.testing.assert_close(found.reshape(-1, 40)[0], torch.tensor(expected), rtol=1e-4, atol=1e-4)


def test_it_is_a_term_of_its_own_in_every_objective() -> None:
    q, p = regularized(model_for(augment="affine"), batch_of_digits(), agreement=LOUD)
    for objective in (elbo, semi_supervised):
        terms = objective(q, p)
        torch.testing.assert_close(terms["log_term[agreement_digit]"], p["agreement_digit"].log_prob)
        torch.testing.assert_close(terms["reconstruction"], p["x"].log_prob)


def test_the_decoder_scores_the_items_as_they_are() -> None:
    batch = batch_of_digits()
    _, p = regularized(model_for(augment="affine"), batch, agreement=1.0)
    torch.testing.assert_close(p["x"].value, batch.x, rtol=0, atol=0)


def test_directions_agree_by_their_density() -> None:
    nodes = {
        "light": {"family": "direction", "size": 3, "inferred_from": ["x"], "labels": True},
        "x": {"family": "bernoulli", "parents": ["light"]},
    }
    torch.manual_seed(0)
    model = GraphicalModel({"nodes": nodes}, (1, 8, 8)).eval()
    labels = torch.full((5, 3), float("nan"))
    labels[0] = torch.tensor([0.0, 1.0, 0.0])
    x, view = torch.rand(5, 1, 8, 8), torch.rand(5, 1, 8, 8)
    batch = replace(batch_of_digits(), x=x, values={"light": labels}, second_view=view)
    q, p = model(batch)
    (found,) = agreement(model, batch, q, p, confidence=0.0).values()
    second = model.encode(view)["light"].dist
    assert isinstance(second, Direction)
    target = q["light"].dist.mean_direction.detach().clone()
    target[0] = labels[0]
    torch.testing.assert_close(found, -second.log_prob(target))


def test_a_class_without_labels_is_penalized_by_the_divergence_of_its_two_views() -> None:
    nodes = {**NODES, "digit": {**NODES["digit"], "labels": False}}
    model, batch = without_dropout(model_for(nodes=nodes, augment="affine")), batch_of_digits()
    torch.manual_seed(1)
    view = model.augment(batch.x, scored=False)
    torch.manual_seed(1)
    _, p = regularized(model, batch, agreement=7.0)
    first, second = logits_of(model, batch.x).softmax(-1), logits_of(model, view).softmax(-1)
    slow = [
        -7.0 * sum(a * (a / b).log() for a, b in zip(one, other, strict=True))
        for one, other in zip(first, second, strict=True)
    ]
    torch.testing.assert_close(p["agreement_digit"].log_prob, torch.stack(slow), rtol=1e-3, atol=1e-4)
    weights = list(model.recognition["digit"].parameters())
    gradients = torch.autograd.grad(p["agreement_digit"].log_prob.sum(), weights)
    assert all(bool(gradient.abs().sum() > 0) for gradient in gradients)


def test_each_site_may_have_its_own_threshold() -> None:
    model, batch = model_for(augment="affine"), batch_of_digits(0)
    batch = replace(batch, second_view=model.augment(batch.x, scored=False))
    q, p = model(batch)
    none = agreement(model, batch, q, p, confidence={"digit": 1.1})
    every = agreement(model, batch, q, p, confidence={"digit": 0.0})
    assert not bool(none["agreement_digit"].any())
    assert bool((every["agreement_digit"] > 0).all())


@pytest.mark.parametrize("samples", [None, 3])
def test_a_hand_written_program_agrees_with_itself(samples: int | None) -> None:
    """By the default methods of a program, against its own encoder at the view."""
    program, batch = hand_written(), batch_of_digits()
    batch = replace(batch, second_view=program.augment(batch.x, scored=False))
    q = program.encode(batch.x, batch.values, samples)
    p = program.decode(batch.x, q)
    (found,) = agreement(program, batch, q, p, confidence=0.0).values()
    second = program.encode(batch.second_view)["digit"].dist.logits.log_softmax(-1)  # type: ignore[arg-type]
    target = torch.where(batch["digit"] >= 0, batch["digit"], q["digit"].dist.logits.argmax(-1))
    torch.testing.assert_close(found.reshape(-1, 40)[0], -second.gather(-1, target[:, None])[:, 0])


def test_a_model_that_augments_nothing_is_refused() -> None:
    with pytest.raises(SpecError, match=r"set model\.augment"):
        regularized(model_for(), batch_of_digits(), agreement=1.0)
