"""The independence criterion against loops over four items, its lack of bias, and the penalty of a model."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
import torch

from tests.objectives.regularizers.programs import (
    NODES,
    batch_of_digits,
    hand_written,
    model_for,
    regularized,
)
from unknot.errors import SpecError
from unknot.models.graphical_model import GraphicalModel
from unknot.objectives import semi_supervised
from unknot.objectives.regularizers.independence import hsic, independence, kernel


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


def test_fewer_than_four_items_have_no_estimate() -> None:
    assert float(hsic(kernel(torch.randn(3, 2)), kernel(torch.randn(3, 1)))) == 0.0


@pytest.mark.parametrize("samples", [None, 3])
def test_the_penalty_is_the_criterion_for_every_item(samples: int | None) -> None:
    model, batch = model_for(), batch_of_digits()
    q, p = regularized(model, batch, samples, independence=50.0)
    style = q["style"].dist.mean.reshape(-1, 40, 3)[0]
    probs = q["digit"].dist.probs.reshape(-1, 40, 10)[0]
    digit = torch.where(batch["digit"] >= 0, batch["digit"], probs.argmax(-1))
    expected = -50.0 * hsic(kernel(style), kernel(model.site_features("digit", torch.eye(10)[digit])))
    torch.testing.assert_close(p["independence_digit"].log_prob, expected.expand(40))
    term = semi_supervised(q, p)["log_term[independence_digit]"]
    torch.testing.assert_close(term, p["independence_digit"].log_prob)


def test_steps_along_it_separate_style_and_digit() -> None:
    model, batch = model_for(), batch_of_digits()
    optimizer = torch.optim.Adam(model.recognition["style"].parameters(), 1e-2)
    found = []
    for _ in range(40):
        _, p = regularized(model, batch, independence=1.0)
        found.append(-p["independence_digit"].log_prob.mean().item())
        optimizer.zero_grad()
        (-p["independence_digit"].log_prob.mean()).backward()
        optimizer.step()
    assert found[-1] < found[0]


def test_a_hand_written_program_compares_values_as_they_are() -> None:
    program, batch = hand_written(), batch_of_digits(0)
    q, p = program(batch)
    found = independence(program, batch, q, p)["independence_digit"]
    digit = torch.eye(10)[q["digit"].dist.logits.argmax(-1)]
    torch.testing.assert_close(found, hsic(kernel(q["style"].dist.mean), kernel(digit)).expand(40))


def test_a_model_without_a_style_is_refused() -> None:
    nodes = {"digit": NODES["digit"], "x": {"family": "bernoulli", "parents": ["digit"]}}
    with pytest.raises(SpecError, match="independence needs sites with labels and sites without"):
        regularized(GraphicalModel({"nodes": nodes}, (1, 8, 8)), batch_of_digits(), independence=1.0)
