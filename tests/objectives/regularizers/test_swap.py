"""Swapped factors: the penalty against a loop over items, and what it teaches."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.objectives.regularizers.programs import (
    NODES,
    batch_of_digits,
    hand_written,
    model_for,
    regularized,
)
from unknot import given
from unknot.models.graphical_model import GraphicalModel
from unknot.objectives import semi_supervised
from unknot.objectives.regularizers.swap import eval_mode, frozen_weights, swap

NORMAL = torch.distributions.Normal
SMALL = {**NODES, "x": {**NODES["x"], "encoder": {"name": "mlp", "hidden": [16]}}}


def small_model() -> GraphicalModel:
    torch.manual_seed(0)
    return GraphicalModel({"nodes": SMALL}, (1, 8, 8))


def swapped_digits(q, batch) -> torch.Tensor:  # type: ignore[no-untyped-def]
    """One-hot: another item's label, or its most likely digit; draws one permutation."""
    probs = q["digit"].dist.probs.detach().reshape(-1, 40, 10)[0]
    own = torch.where(batch["digit"] >= 0, batch["digit"], probs.argmax(-1))
    return torch.eye(10)[own[torch.randperm(40)]]


@pytest.mark.parametrize("samples", [None, 3])
def test_the_penalty_is_the_log_probability_of_what_each_item_was_generated_from(samples: int | None) -> None:
    model, batch = small_model(), batch_of_digits()
    torch.manual_seed(1)
    q, p = regularized(model, batch, samples, swap=3.0)
    torch.manual_seed(1)
    q = model.encode(batch.x, {"digit": batch["digit"]}, samples)
    model.decode(batch.x, q)
    digits = swapped_digits(q, batch)
    style = q["style"].value.detach().reshape(-1, 40, 3)[0]
    for b in range(40):
        values = {"digit": digits[b : b + 1], "style": style[b : b + 1]}
        generated = model.expected_data(given(1, values))
        again = model.encode(generated, {"digit": digits[b].argmax()[None]})
        of_digit = again["digit"].dist.logits.log_softmax(-1)[0, digits[b].argmax()]
        of_style = again["style"].dist.log_prob(style[b : b + 1]).sum()
        torch.testing.assert_close(
            p["swap"].log_prob.reshape(-1, 40)[0, b], 3.0 * (of_digit + of_style), rtol=1e-3, atol=1e-3
        )


def test_generated_items_are_encoded_as_after_training_and_do_not_enter_the_moments() -> None:
    """With convolutions: the trunk in evaluation, at the moments of the real items alone."""
    model, batch = model_for(), batch_of_digits()
    seen: list[tuple[bool, float]] = []
    model.trunk.register_forward_hook(lambda trunk, *_: seen.append((trunk.training, _moments(trunk))))
    regularized(model, batch, swap=1.0)
    (real, after_real), (generated, after_generated) = seen
    assert real
    assert not generated
    assert after_generated == after_real
    assert model.trunk.training


def _moments(trunk: nn.Module) -> float:
    return sum(float(value.sum()) for name, value in trunk.named_buffers() if "running" in name)


def test_a_module_gets_its_modes_back() -> None:
    network = nn.Sequential(nn.Dropout(0.9), nn.Linear(3, 2), nn.Dropout(0.9).eval())
    x = torch.randn(5, 3)
    with eval_mode(network):
        torch.testing.assert_close(network(x), network[1](x))
    assert [part.training for part in network] == [True, True, False]


def test_it_is_a_term_of_its_own() -> None:
    q, p = regularized(small_model(), batch_of_digits(), swap=3.0)
    torch.testing.assert_close(semi_supervised(q, p)["log_term[swap]"], p["swap"].log_prob)


def test_what_is_computed_from_the_factors_is_drawn_anew_and_not_scored() -> None:
    """S17's q(shape | identity, light): after a swap it belongs to the new factors, and x̂ says nothing of it."""
    nodes = {
        "digit": NODES["digit"],
        "light": {"family": "direction", "size": 3, "inferred_from": ["x"], "labels": True},
        "shape": {"family": "normal", "size": 2, "inferred_from": ["digit", "light"]},
        "rest": {"family": "normal", "size": 2, "inferred_from": ["x"]},
        "x": {"family": "normal", "parents": ["digit", "light", "shape", "rest"]},
    }
    model, batch = model_for(nodes=nodes), batch_of_digits()
    with torch.no_grad():
        last = [part for part in model.recognition["shape"].modules() if isinstance(part, nn.Linear)][-1]
        last.bias[:2].fill_(1e4)  # a shape far from every draw
    q, p = regularized(model, batch, swap=1.0)
    assert bool((q["shape"].value > 1e3).all())
    p["swap"].log_prob.mean().backward()
    assert all(w.grad is None for w in model.recognition["shape"].parameters())
    assert all(w.grad is not None for w in model.recognition["rest"].parameters())
    assert all(w.grad is not None for w in model.generation["x"].parameters())


@pytest.mark.parametrize("apart", [False, True])
def test_how_much_the_decoder_learns_from_the_style(apart: bool) -> None:
    """The penalty is the same; the decoder's gradient is that of the factors' terms and a share of the style's."""
    gradients, terms = {}, {}
    nodes = _nodes(apart)
    for share in (0.0, 0.25, 1.0):
        terms[share], gradients[share] = _term_and_gradients(nodes, share)
    torch.testing.assert_close(terms[0.0], terms[1.0])
    for name, whole in gradients[1.0].items():
        none, quarter = gradients[0.0][name], gradients[0.25][name]
        torch.testing.assert_close(quarter, 0.75 * none + 0.25 * whole)
        assert torch.allclose(none, whole) is not name.startswith("generation")
    torch.testing.assert_close(_by_hand(nodes), gradients[0.0]["generation.x.network.0.weight"])


@pytest.mark.parametrize("apart", [False, True])
def test_a_detached_factor_learns_nothing_from_generated_items(apart: bool) -> None:
    """Its term still teaches the decoder, and the style's network still learns to infer the style."""
    nodes = _nodes(apart)
    nodes["digit"] |= {"gradient": "detached"}
    _, found = _term_and_gradients(nodes, 0.0)
    assert not [name for name in found if name.startswith(("recognition.digit", "trunk.trunks.shapes"))]
    assert any(name.startswith("recognition.style") for name in found)
    torch.testing.assert_close(_by_hand(nodes), found["generation.x.network.0.weight"])


def test_frozen_weights_pass_gradients_and_are_as_they_were_afterwards() -> None:
    network, x = nn.Linear(3, 2), torch.randn(4, 3, requires_grad=True)
    network.bias.requires_grad_(False)
    with frozen_weights(network):
        network(x).sum().backward()
    assert network.weight.grad is None
    torch.testing.assert_close(x.grad, network.weight.sum(0).expand(4, 3))
    assert (network.weight.requires_grad, network.bias.requires_grad) == (True, False)


def _nodes(apart: bool) -> dict[str, dict[str, object]]:
    nodes: dict[str, dict[str, object]] = {key: dict(value) for key, value in NODES.items()}
    if apart:
        shapes, pixels = {"name": "conv", "channels": [4]}, {"name": "mlp", "hidden": [12]}
        nodes["digit"] |= {"encoder": {"name": "mlp", "part": "shapes"}}
        nodes["style"] |= {"encoder": {"name": "mlp", "part": "pixels"}}
        nodes["x"] |= {"encoder": {"name": "parts", "shapes": shapes, "pixels": pixels}}
    return nodes


def _term_and_gradients(
    nodes: dict[str, dict[str, object]], share: float
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    torch.manual_seed(0)
    model, batch = GraphicalModel({"nodes": nodes}, (1, 8, 8)), batch_of_digits()
    torch.manual_seed(1)
    _, p = regularized(model, batch, swap={"weight": 3.0, "decoder_weight": share})
    p["swap"].log_prob.mean().backward()
    return p["swap"].log_prob, {name: w.grad for name, w in model.named_parameters() if w.grad is not None}


def _by_hand(nodes: dict[str, dict[str, object]]) -> torch.Tensor:
    """The gradient of the factor's term alone, at the draws of the seed."""
    torch.manual_seed(0)
    model, batch = GraphicalModel({"nodes": nodes}, (1, 8, 8)), batch_of_digits()
    torch.manual_seed(1)
    q = model.encode(batch.x, {"digit": batch["digit"]})
    model.decode(batch.x, q)
    digits, style = swapped_digits(q, batch), q["style"].value.detach()
    generated = model.expected_data(given(len(style), digit=digits, style=style))
    with eval_mode(model):
        logits = model.encode(generated)["digit"].dist.logits
    if nodes["digit"].get("gradient") == "detached":
        with eval_mode(model):
            logits = model.encode(generated)["digit"].undetached.logits
    (3.0 * (logits.log_softmax(-1) * digits).sum(-1)).mean().backward()
    return next(w.grad for name, w in model.named_parameters() if name == "generation.x.network.0.weight")


def test_generated_items_are_encoded_better_after_a_few_steps() -> None:
    model, batch = small_model(), batch_of_digits()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    found = []
    for _ in range(40):
        _, p = regularized(model, batch, swap=3.0)
        found.append(p["swap"].log_prob.mean().item())
        optimizer.zero_grad()
        (-p["swap"].log_prob.mean()).backward()
        optimizer.step()
    assert found[-1] > found[0] + 1


def test_a_hand_written_program_is_swapped_by_its_encoder_and_decoder() -> None:
    program, batch = hand_written(), batch_of_digits(0)
    q, p = program(batch)
    torch.manual_seed(1)
    found = swap(program, batch, q, p)["swap"]
    torch.manual_seed(1)
    digits, style = swapped_digits(q, batch), q["style"].value.detach()
    generated = program.expected_data(given(40, digit=digits, style=style))
    again = program.encode(generated, {"digit": digits.argmax(-1)})
    of_digit = (again["digit"].dist.logits.log_softmax(-1) * digits).sum(-1)
    of_style = again["style"].dist.log_prob(style).sum(-1)
    torch.testing.assert_close(found, -(of_digit + of_style))
