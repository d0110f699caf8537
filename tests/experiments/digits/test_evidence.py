"""Evidence of the classes: exact where the posterior is, by a loop over classes, and what it does to an encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import one_hot

import unknot
from experiments.digits.evidence import EVIDENCE_HEAD, log_evidence, search
from tests.models.digits import NODES, batch_of_digits
from unknot.core.handlers import modes
from unknot.errors import SpecError
from unknot.models.families import family
from unknot.models.graphical_model import GraphicalModel
from unknot.models.spec import node
from unknot.objectives import semi_supervised

WEIGHED = {"name": EVIDENCE_HEAD, "weight": 0.1}
NORMAL = torch.distributions.Normal


def model_with(
    weight: float = 0.3, evidence: dict[str, float] | None = None, **settings: object
) -> GraphicalModel:
    """The same weights whatever the weight of the evidence; features without dropout."""
    torch.manual_seed(0)
    nodes = {
        **NODES,
        "digit": {**NODES["digit"], "encoder": {"name": EVIDENCE_HEAD, "weight": weight, **(evidence or {})}},
        "x": {**NODES["x"], "encoder": {"name": "mlp", "hidden": [16]}},
    }
    return GraphicalModel({"nodes": nodes, **settings}, (1, 8, 8))


def line(x: Tensor, steps: int, off: Tensor | float = 0.0) -> tuple[Tensor, Tensor]:
    """Evidence of x = m_k + a z + noise, z ~ N(0, 1), found and exact: log p(k) + log N(x; m_k, a² + s²).

    The recognized style has the posterior's width; its mean is ``off`` by so much.
    """
    means, a, s = torch.tensor([-1.0, 0.5, 2.0]), 0.8, 0.5
    y = family(node("y", "concrete", 3, inferred_from=["x"]))
    z = family(node("z", "normal", 1, inferred_from=["x", "y"]))

    def recognized(name: str, seen: dict[str, Tensor]) -> Tensor:
        if name == "y":
            return torch.zeros(len(seen["x"]), 3)
        at = y.from_features(seen["y"]) @ means  # type: ignore[operator]
        center = a * (seen["x"][:, 0] - at) / (a**2 + s**2) + off
        width = torch.full_like(center, (s**2 / (a**2 + s**2)) ** 0.5 - 1e-3)
        return torch.stack([center, width.expm1().log()], -1)  # the family's scale is softplus + 1e-3

    def decode(items: Tensor, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        k = p.concrete(torch.zeros(3), 0.66, value=q["y"], name="y")
        style = p.normal(torch.zeros(1), torch.ones(1), value=q["z"], name="z")
        p.normal((k @ means).unsqueeze(-1) + a * style, s, value=items, name="x")
        return p

    families = {"y": y, "z": z}
    found = log_evidence(
        "y",
        x,
        {"x": x},
        ("y", "z"),
        families,
        recognized,
        decode,
        torch.tensor(0.66),
        steps,  # type: ignore[arg-type]
    )
    exact = NORMAL(means, (a**2 + s**2) ** 0.5).log_prob(x)
    return found, exact - exact.max(-1, keepdim=True).values


@pytest.mark.parametrize("steps", [0, 3])
def test_it_is_exact_where_the_recognised_style_is_the_posterior(steps: int) -> None:
    found, exact = line(torch.randn(7, 1), steps)
    torch.testing.assert_close(found, exact, rtol=1e-4, atol=1e-4)


def test_search_makes_it_exact_where_the_recognised_style_is_off() -> None:
    x = torch.tensor([[-1.5], [0.2], [3.0]])

    def off_by(x: Tensor) -> Tensor:  # by class, so that it does not cancel
        return torch.tensor([0.0, 1.5, -2.0]).repeat_interleave(len(x))

    poor, exact = line(x, 0, off_by(x))
    found, _ = line(x, 200, off_by(x))
    assert bool(((poor - exact).abs().max(-1).values > 0.5).all())
    torch.testing.assert_close(found, exact, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_only_items_of_which_the_network_is_not_sure_are_asked_about(share: float) -> None:
    x = batch_of_digits().x
    everywhere = model_with(evidence={"steps": 2}).eval()
    with torch.no_grad():
        network = everywhere.recognition["digit"]({"x": everywhere.trunk(x)})
    confidence = network.softmax(-1).max(-1).values
    below = float(confidence.quantile(share)) if 0 < share < 1 else share
    model = model_with(evidence={"steps": 2, "below": below}).eval()
    sure = confidence > below
    assert int(sure.sum()) == round(40 * (1 - share))
    found = model.encode(x)["digit"].dist.logits.log_softmax(-1)
    expected = torch.where(sure.unsqueeze(-1), network, everywhere.encode(x)["digit"].dist.logits)
    torch.testing.assert_close(found, expected.log_softmax(-1), rtol=1e-4, atol=1e-4)
    assert all(weight.grad is None for weight in model.parameters())


def test_the_encoder_is_the_product_of_network_and_evidence() -> None:
    model, x = model_with().eval(), batch_of_digits().x
    digit, style = model.family_of("digit"), model.recognition["style"].network
    found = model.encode(x)["digit"].dist.logits.log_softmax(-1)
    with torch.no_grad():
        features = model.trunk(x)
        network, slow = model.recognition["digit"]({"x": features}), []
        for k in range(10):
            y = one_hot(torch.full((40,), k), 10).float()
            mean, raw = style(torch.cat([features, digit.features(y)], -1)).chunk(2, -1)
            q_z = NORMAL(mean, torch.nn.functional.softplus(raw) + 1e-3).log_prob(mean).sum(-1)
            logits = model.generation["x"](torch.cat([digit.features(y), mean], -1))
            p_x = -torch.nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="none")
            p_z = NORMAL(0.0, 1.0).log_prob(mean).sum(-1)
            slow.append(p_x.flatten(1).sum(-1) + p_z - q_z)
        expected = (network + 0.3 * torch.stack(slow, -1)).log_softmax(-1)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


def test_without_weight_it_is_the_network() -> None:
    model, x = model_with(0.0).eval(), batch_of_digits().x
    torch.testing.assert_close(
        model.encode(x)["digit"].dist.logits, model.recognition["digit"]({"x": model.trunk(x)})
    )


def test_the_answer_is_the_same_each_time() -> None:
    model, x = model_with().eval(), batch_of_digits().x
    first, second = (model.encode(x)["digit"].dist.logits for _ in range(2))
    with modes():
        third = model.encode(x)["digit"].dist.logits
    torch.testing.assert_close(first, second, rtol=0, atol=0)
    torch.testing.assert_close(first, third, rtol=0, atol=0)


def test_in_training_the_network_stands_alone() -> None:
    """The same two traces as without evidence, draw by draw: the generator's readings teach nobody."""
    found = []
    for weight in (0.3, 0.0):
        model = model_with(weight)
        torch.manual_seed(1)
        q, p = model(batch_of_digits())
        found.append((q["digit"].dist.logits, p.log_prob()))
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=0)


@pytest.mark.parametrize("gradient", ["concrete", "enumerate", "detached"])
@pytest.mark.parametrize("samples", [None, 2])
def test_it_goes_with_every_way_of_drawing(gradient: str, samples: int | None) -> None:
    nodes = {**NODES, "digit": {**NODES["digit"], "encoder": WEIGHED, "gradient": gradient}}
    model = GraphicalModel({"nodes": nodes}, (1, 8, 8))
    for trained in (model, model.eval()):
        q, p = trained(batch_of_digits(), samples)
        assert semi_supervised(q, p, alpha=5.0).loss.isfinite()
        assert q["digit"].dist.logits.shape[-2:] == (40, 10)


def test_the_graph_is_that_of_the_model() -> None:
    x = batch_of_digits().x
    assert str(unknot.graph(model_with().eval().encode, model_with().decode, x)) == str(
        unknot.graph(model_with(0.0).eval().encode, model_with(0.0).decode, x)
    )


def test_descriptions_that_have_no_such_evidence_are_refused() -> None:
    of_numbers = {**NODES, "style": {**NODES["style"], "encoder": WEIGHED}}
    with pytest.raises(
        SpecError, match=r"node 'style': evidence .* is of normal, not of classes; leave it out"
    ):
        GraphicalModel({"nodes": of_numbers}, (1, 8, 8))
    later = {
        "digit": {**NODES["digit"], "inferred_from": ["x", "style"], "encoder": WEIGHED},
        "style": {**NODES["style"], "inferred_from": ["x"]},
        "x": NODES["x"],
    }
    with pytest.raises(SpecError, match="is not inferred from 'x' alone"):
        GraphicalModel({"nodes": later}, (1, 8, 8))
    two = {**NODES, "digit": {**NODES["digit"], "encoder": WEIGHED}, "odd": {**NODES["digit"], "size": 2}}
    with pytest.raises(SpecError, match="is not the only one of classes: 'odd' is another"):
        GraphicalModel({"nodes": two}, (1, 8, 8))
    with pytest.raises(SpecError, match="weight is a number from 0 to 1, but got 2"):
        model_with(2.0)


# The search for the best values: exact where the answer is known, item by item, and never a step back.

GOAL = {"a": torch.tensor([[1.0, -2.0], [0.5, 0.0], [3.0, 3.0]]), "b": torch.tensor([[0.3], [-0.7], [0.0]])}


def near(values: Mapping[str, Tensor]) -> Tensor:
    """Highest at the goal, and steeper along some numbers than along others."""
    a, b = values["a"] - GOAL["a"], values["b"] - GOAL["b"]
    return -(a * torch.tensor([1.0, 5.0])).square().sum(-1) - 30 * b.square().sum(-1)


def start() -> dict[str, Tensor]:
    return {name: torch.zeros_like(goal) for name, goal in GOAL.items()}


def test_it_finds_the_best_values() -> None:
    found = search(start(), near, 300)
    for name, goal in GOAL.items():
        torch.testing.assert_close(found[name], goal, atol=0.02, rtol=0)


def test_it_is_adam_of_pytorch() -> None:
    leaves = {name: value.requires_grad_() for name, value in start().items()}
    adam = torch.optim.Adam(leaves.values(), lr=0.1)
    for _ in range(7):
        adam.zero_grad()
        (-near(leaves).sum()).backward()
        adam.step()
    found = search(start(), near, 7)
    for name in GOAL:
        torch.testing.assert_close(found[name], leaves[name].detach(), atol=1e-5, rtol=1e-5)


def test_no_item_ends_below_its_start() -> None:
    found = search(GOAL, near, 3)  # Adam's first steps lead away from where the slope is all but nothing
    wild = search(start(), lambda v: (50 * v["a"]).sin().sum(-1) + 0 * v["b"].sum(-1), 9)
    for name, goal in GOAL.items():
        torch.testing.assert_close(found[name], goal)
    assert bool(((50 * wild["a"]).sin().sum(-1) >= 0).all())


def test_items_do_not_see_each_other() -> None:
    together = search(start(), near, 5)
    for item in range(3):
        own = {name: goal[item : item + 1] for name, goal in GOAL.items()}

        def alone(values: Mapping[str, Tensor], own: Mapping[str, Tensor] = own) -> Tensor:
            a, b = values["a"] - own["a"], values["b"] - own["b"]
            return -(a * torch.tensor([1.0, 5.0])).square().sum(-1) - 30 * b.square().sum(-1)

        found = search({name: torch.zeros_like(value) for name, value in own.items()}, alone, 5)
        for name in GOAL:
            torch.testing.assert_close(found[name], together[name][item : item + 1])


def test_it_searches_without_gradients_around_it_and_leaves_none_behind() -> None:
    scale = torch.tensor(2.0, requires_grad=True)
    first = start()
    with torch.no_grad():
        found = search(first, lambda v: scale * near(v), 5)
    assert scale.grad is None
    assert not any(value.requires_grad for value in [*first.values(), *found.values()])
    assert not torch.equal(found["a"], first["a"])
