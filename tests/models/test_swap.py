"""Swapped factors: the log-term against a loop over items, and what it teaches."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.models.test_agreement import NODES, batch_of_digits
from unknot import given
from unknot.models.graphical_model import GraphicalModel
from unknot.models.swap import at_rest, kept_value, swapped_label, unchanged
from unknot.objectives import semi_supervised

NORMAL = torch.distributions.Normal


def model_with(**settings: object) -> GraphicalModel:
    torch.manual_seed(0)
    nodes = {**NODES, "x": {**NODES["x"], "recognition_hidden": [16]}}  # type: ignore[dict-item]
    return GraphicalModel({"nodes": nodes, "swap": 3.0, **settings}, (1, 8, 8))


def test_labels_go_to_other_items_and_none_is_lost() -> None:
    model, batch = model_with(), batch_of_digits()
    q = model.encode(batch.x, {"digit": batch["digit"]})
    family = model.family_of("digit")
    torch.manual_seed(1)
    swapped = swapped_label(q, "digit", family).argmax(-1)
    torch.manual_seed(1)
    order = torch.randperm(40)
    own = torch.where(batch["digit"] >= 0, batch["digit"], q["digit"].dist.probs.argmax(-1))
    torch.testing.assert_close(swapped, own[order])
    assert not kept_value(q, "style").requires_grad


@pytest.mark.parametrize("samples", [None, 3])
def test_the_term_is_how_well_each_made_item_is_read(samples: int | None) -> None:
    model, batch = model_with(), batch_of_digits()
    torch.manual_seed(1)
    q, p = model(batch, samples)
    torch.manual_seed(1)
    q = model.encode(batch.x, {"digit": batch["digit"]}, samples)
    model.decode(batch.x, q)
    digits = swapped_label(q, "digit", model.family_of("digit"))
    style = q["style"].value.detach()
    style = style if samples is None else style[0]
    features = model.family_of("digit").features
    for b in range(40):
        made = model.expected_data(given(1, digit=digits[b : b + 1], style=style[b : b + 1]))
        seen = model.trunk(made)
        of_digit = model.recognition["digit"](seen).log_softmax(-1)[0, digits[b].argmax()]
        loc, raw = model.recognition["style"](torch.cat([seen, features(digits[b : b + 1])], -1)).chunk(2, -1)
        scale = torch.nn.functional.softplus(raw) + 1e-3
        of_style = NORMAL(loc, scale).log_prob(style[b]).sum()
        torch.testing.assert_close(
            p["swap"].log_prob.reshape(-1, 40)[0, b], 3.0 * (of_digit + of_style), rtol=1e-3, atol=1e-3
        )


def test_made_items_are_read_as_after_training_and_do_not_enter_the_moments() -> None:
    """With convolutions: the term is that of the trunk in evaluation, at the moments of the real items alone."""
    torch.manual_seed(0)
    nodes = {**NODES, "x": {"family": "bernoulli", "parents": ["digit", "style"]}}
    model, batch = GraphicalModel({"nodes": nodes, "swap": 1.0}, (1, 8, 8)), batch_of_digits()
    seen: list[tuple[bool, float]] = []
    model.trunk.register_forward_hook(lambda trunk, *_: seen.append((trunk.training, _moments(trunk))))
    model(batch)
    (real, after_real), (made, after_made) = seen
    assert real
    assert not made
    assert after_made == after_real
    assert model.trunk.training


def _moments(trunk: torch.nn.Module) -> float:
    return sum(float(value.sum()) for name, value in trunk.named_buffers() if "running" in name)


def test_a_network_at_rest_gets_its_mode_back() -> None:
    network = torch.nn.Sequential(torch.nn.Dropout(0.9), torch.nn.Linear(3, 2))
    x = torch.randn(5, 3)
    with at_rest(network):
        torch.testing.assert_close(network(x), network[1](x))
    assert network[0].training
    with at_rest(network.eval()):
        pass
    assert not network[0].training


def test_it_is_a_term_of_its_own_and_only_in_training() -> None:
    model, batch = model_with(), batch_of_digits()
    q, p = model(batch)
    torch.testing.assert_close(semi_supervised(q, p)["log_term[swap]"], p["swap"].log_prob)
    assert "swap" not in model.eval()(batch)[1]


def test_what_only_follows_the_factors_is_made_anew_and_not_scored() -> None:
    """S17's q(shape | identity, light): after a swap it belongs to the new factors, and x̂ tells nothing of it."""
    nodes = {
        "digit": NODES["digit"],
        "light": {"family": "direction", "size": 3, "inferred_from": ["x"], "labels": True},
        "shape": {"family": "normal", "size": 2, "inferred_from": ["digit", "light"]},
        "rest": {"family": "normal", "size": 2, "inferred_from": ["x"]},
        "x": {"family": "normal", "parents": ["digit", "light", "shape", "rest"]},
    }
    torch.manual_seed(0)
    model = GraphicalModel({"nodes": nodes, "swap": 1.0}, (1, 8, 8))
    with torch.no_grad():
        model.recognition["shape"][-1].bias[:2].fill_(1e4)  # type: ignore[index] # a shape far from every draw
    q, p = model(batch_of_digits())
    assert bool((q["shape"].value > 1e3).all())
    p["swap"].log_prob.mean().backward()
    assert all(w.grad is None for w in model.recognition["shape"].parameters())
    assert all(w.grad is not None for w in model.recognition["rest"].parameters())
    assert all(w.grad is not None for w in model.generation["x"].parameters())


@pytest.mark.parametrize("apart", [False, True])
def test_how_much_the_generator_learns_of_the_rest(apart: bool) -> None:
    """The term is the same; the generator's gradient is that of the factors' reading and a share of the rest's."""
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
def test_a_detached_factor_learns_nothing_from_made_items(apart: bool) -> None:
    """Its reading still teaches the generator, and the style's network still learns to read the style."""
    nodes = _nodes(apart)
    nodes["digit"] |= {"gradient": "detached"}
    _, found = _term_and_gradients(nodes, 0.0)
    assert not [name for name in found if name.startswith(("recognition.digit", "trunk.shapes"))]
    assert any(name.startswith("recognition.style") for name in found)
    torch.testing.assert_close(_by_hand(nodes), found["generation.x.network.0.weight"])


def test_an_unchanged_network_passes_gradients_and_is_as_it_was_afterwards() -> None:
    network, x = nn.Linear(3, 2), torch.randn(4, 3, requires_grad=True)
    network.bias.requires_grad_(False)
    with unchanged(network):
        network(x).sum().backward()
    assert network.weight.grad is None
    torch.testing.assert_close(x.grad, network.weight.sum(0).expand(4, 3))
    assert (network.weight.requires_grad, network.bias.requires_grad) == (True, False)


def _nodes(apart: bool) -> dict[str, dict[str, object]]:
    nodes: dict[str, dict[str, object]] = {key: dict(value) for key, value in NODES.items()}
    if apart:
        nodes["digit"] |= {"sees": "shapes"}
        nodes["style"] |= {"sees": "pixels"}
        nodes["x"] |= {"encoder": "apart", "channels": [4], "recognition_hidden": [12]}
    return nodes


def _term_and_gradients(
    nodes: dict[str, dict[str, object]], share: float
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    torch.manual_seed(0)
    spec = {"nodes": nodes, "swap": 3.0, "swap_teaches": share}
    model, batch = GraphicalModel(spec, (1, 8, 8)), batch_of_digits()
    torch.manual_seed(1)
    _, p = model(batch)
    p["swap"].log_prob.mean().backward()
    return p["swap"].log_prob, {name: w.grad for name, w in model.named_parameters() if w.grad is not None}


def _by_hand(nodes: dict[str, dict[str, object]]) -> torch.Tensor:
    """The gradient of the factor's reading alone, at the draws of the seed."""
    torch.manual_seed(0)
    model, batch = GraphicalModel({"nodes": nodes, "swap": 3.0}, (1, 8, 8)), batch_of_digits()
    torch.manual_seed(1)
    q = model.encode(batch.x, {"digit": batch["digit"]})
    model.decode(batch.x, q)
    digits, style = swapped_label(q, "digit", model.family_of("digit")), kept_value(q, "style")
    made = model.expected_data(given(len(style), digit=digits, style=style))
    with at_rest(model.trunk):
        seen = model.trunk(made)
    outputs = model.recognized(model.spec["digit"], {"x": seen})
    (3.0 * (outputs.log_softmax(-1) * digits).sum(-1)).mean().backward()
    return model.generation["x"].network[0].weight.grad  # type: ignore[union-attr, index, return-value]


def test_readers_of_made_items_get_better() -> None:
    """A few steps up the term alone, and made items are read more nearly as they were made."""
    model, batch = model_with(), batch_of_digits()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    found = []
    for _ in range(40):
        _, p = model(batch)
        found.append(p["swap"].log_prob.mean().item())
        optimizer.zero_grad()
        (-p["swap"].log_prob.mean()).backward()
        optimizer.step()
    assert found[-1] > found[0] + 1
