"""All pairs of a relaxed class by two products: against densities and masses pair by pair, gradients included."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from unknot.core.relaxed import Concrete
from unknot.objectives.marginal.pairwise import Labels, concrete_joint
from unknot.objectives.marginal.weights import naive

R, C, K, T = 5, 4, 3, 2
LABELED = torch.tensor([True, False, True, False, False])
PARENT = torch.tensor([1, 0, 1, 1, 0])
CASES = [(labels, tables) for labels in (False, True) for tables in (False, True)]


def inputs(tables: bool) -> tuple[Tensor, Tensor, Tensor]:
    """u, logits and the temperature."""
    torch.manual_seed(0)
    u = torch.randn(R, K, dtype=torch.float64).log_softmax(-1)
    logits = torch.randn(*((T, C, K) if tables else (C, K)), dtype=torch.float64)
    return u, logits, torch.tensor(0.66, dtype=torch.float64)


def others(labels: bool, tables: bool) -> tuple[Tensor | None, Labels | None]:
    """Parents, and labels between the vertices."""
    values = torch.rand(R, K, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    parent = PARENT if tables else None
    return parent, Labels(values / values.sum(-1, keepdim=True), LABELED) if labels else None


def all_pairs(given: tuple[Tensor, ...], labels: bool = False, tables: bool = False) -> Tensor:
    u, logits, temperature = given
    return concrete_joint(u, logits, temperature, naive(C, C), *others(labels, tables))


def pair_by_pair(u: Tensor, logits: Tensor, temperature: Tensor, labels: bool, tables: bool) -> Tensor:
    parent, given = others(labels, tables)
    rows = []
    for r in range(R):
        items = Concrete(logits if parent is None else logits[parent[r]], temperature)
        by_mass = given is not None and bool(LABELED[r])
        rows.append(items.log_mass(given.value[r]) if by_mass else items.log_density(u[r]))
    return torch.stack(rows)


@pytest.mark.parametrize(("labels", "tables"), CASES)
def test_they_are_the_densities_and_masses_pair_by_pair(labels: bool, tables: bool) -> None:
    given = inputs(tables)
    found = all_pairs(given, labels, tables)
    torch.testing.assert_close(found, pair_by_pair(*given, labels, tables))


@pytest.mark.parametrize(("labels", "tables"), CASES)
def test_their_slopes_too_that_of_the_temperature_included(labels: bool, tables: bool) -> None:
    ours = [tensor.requires_grad_() for tensor in inputs(tables)]
    theirs = [tensor.requires_grad_() for tensor in inputs(tables)]
    slopes = torch.randn(R, C, dtype=torch.float64)
    (all_pairs(tuple(ours), labels, tables) * slopes).sum().backward()
    (pair_by_pair(*theirs, labels, tables) * slopes).sum().backward()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad, other.grad)


def test_single_precision_loses_only_what_it_holds() -> None:
    wide = inputs(False)
    narrow = tuple(tensor.float() for tensor in wide)
    found = all_pairs(narrow)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), pair_by_pair(*wide, False, False), rtol=1e-5, atol=1e-5)
