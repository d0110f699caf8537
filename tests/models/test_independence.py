"""The independence criterion against loops over four items, what it is without bias, and the log-term of a model."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch

from tests.models.test_agreement import NODES, batch_of_digits
from unknot.errors import SpecError
from unknot.models.graphical_model import GraphicalModel
from unknot.models.independence import dependence, hsic, kernel
from unknot.objectives import semi_supervised


def model_with(independence: float) -> GraphicalModel:
    torch.manual_seed(0)
    return GraphicalModel({"nodes": NODES, "independence": independence}, (1, 8, 8))


def test_the_kernel_is_its_formula() -> None:
    torch.manual_seed(0)
    values = torch.randn(5, 3, dtype=torch.float64)
    found = kernel(values)
    for i in range(5):
        for j in range(5):
            far = float(((values[i] - values[j]) ** 2).sum())
            expected = sum(1 / (1 + far / (c * 3)) for c in (0.1, 0.3, 1.0)) / 3
            assert abs(float(found[i, j]) - (expected if i != j else 0.0)) < 1e-12


def test_it_is_the_mean_over_all_choices_of_four_items() -> None:
    """E k l + E k E l - 2 E_x [E k E l], each expectation over items that differ (Gretton et al. 2005)."""
    torch.manual_seed(1)
    first, second = (kernel(torch.randn(7, 2, dtype=torch.float64)) for _ in range(2))
    found = []
    for i, j, s, t in permutations(range(7), 4):
        found.append(first[i, j] * (second[i, j] + second[s, t] - 2 * second[i, s]))
    torch.testing.assert_close(hsic(first, second), torch.stack(found).mean())


def test_small_batches_of_a_population_have_its_value_on_average() -> None:
    """Without bias: the mean over all batches of five out of eight items is the value of the eight."""
    from itertools import combinations

    torch.manual_seed(2)
    style = torch.randn(8, 2, dtype=torch.float64)
    factor = style.prod(-1, keepdim=True)  # no correlation finds it
    found = []
    for rows in combinations(range(8), 5):
        chosen = list(rows)
        found.append(hsic(kernel(style[chosen]), kernel(factor[chosen])))
    torch.testing.assert_close(torch.stack(found).mean(), hsic(kernel(style), kernel(factor)))


def test_the_kernel_is_the_same_where_networks_run_in_half_precision() -> None:
    values = torch.randn(9, 3)
    with torch.autocast("cpu", torch.bfloat16):
        found = kernel(values)
    torch.testing.assert_close(found, kernel(values))


def test_fewer_than_four_items_say_nothing() -> None:
    assert float(hsic(kernel(torch.randn(3, 2)), kernel(torch.randn(3, 1)))) == 0.0


@pytest.mark.parametrize("samples", [None, 3])
def test_the_term_is_minus_the_price_times_the_criterion_for_every_item(samples: int | None) -> None:
    model, batch = model_with(50.0), batch_of_digits()
    q, p = model(batch, samples)
    families = {name: model.family_of(name) for name in ("digit", "style")}
    style = q["style"].dist.mean
    style = style if style.ndim == 2 else style[0]
    probs = q["digit"].dist.probs
    probs = probs if probs.ndim == 2 else probs[0]
    said = torch.where(batch["digit"] >= 0, batch["digit"], probs.argmax(-1))
    value = families["digit"].features(torch.eye(10)[said])
    expected = -50.0 * hsic(kernel(style), kernel(value))
    torch.testing.assert_close(p["independence_digit"].log_prob, expected.expand(40))
    torch.testing.assert_close(dependence(q, ["style"], ["digit"], families)["digit"], -expected / 50)
    term = semi_supervised(q, p)["log_term[independence_digit]"]
    torch.testing.assert_close(term, p["independence_digit"].log_prob)


def test_it_is_there_in_training_only_and_a_step_along_it_parts_style_and_digit() -> None:
    model, batch = model_with(1.0), batch_of_digits()
    assert "independence_digit" not in model.eval()(batch)[1]
    model.train()
    optimizer = torch.optim.Adam(model.recognition["style"].parameters(), 1e-2)
    found = []
    for _ in range(40):
        _, p = model(batch)
        found.append(-p["independence_digit"].log_prob.mean().item())
        optimizer.zero_grad()
        (-p["independence_digit"].log_prob.mean()).backward()
        optimizer.step()
    assert found[-1] < found[0]


def test_a_model_without_a_style_is_refused() -> None:
    nodes = {"digit": NODES["digit"], "x": {"family": "bernoulli", "parents": ["digit"]}}
    with pytest.raises(SpecError, match="Leave independence out"):
        GraphicalModel({"nodes": nodes, "independence": 1.0}, (1, 8, 8))
