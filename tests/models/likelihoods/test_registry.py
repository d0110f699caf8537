"""The registry of data families: which one suits which data."""

from __future__ import annotations

import pytest
import torch
from torch import Size

from unknot.models import node
from unknot.models.likelihoods import LIKELIHOODS, data_family, likelihood, likelihood_of

COLUMNS = [{"name": "a", "kind": "binary"}]


def test_names_are_the_families_own() -> None:
    for name, one in LIKELIHOODS.items():
        assert one.name == name
        family = {"name": name, "columns": COLUMNS} if one.takes_columns else name
        spec = node("x", family, parents=["z"])
        assert likelihood_of(spec) is one
        assert type(likelihood(spec, Size((1,)), 8)) is one


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (torch.tensor([[0, 255]], dtype=torch.uint8), "bernoulli"),  # pixels, in bytes
        (torch.tensor([[0.0, 1.0]]), "bernoulli"),
        (torch.tensor([[0.0, 1.1]]), "normal"),
        (torch.tensor([[0.5, float("nan")]]), "normal"),
        (torch.tensor([[0, 7]]), "multinomial"),
        (torch.tensor([[-1, 7]]), "normal"),
        (torch.tensor([[[0, 7]]]), "normal"),  # a bag of words is a vector
    ],
)
def test_the_family_that_suits_data(x: torch.Tensor, expected: str) -> None:
    assert data_family(x) == expected
    assert data_family(x, table=True) == "table"


def test_only_a_table_takes_columns() -> None:
    assert [name for name, one in LIKELIHOODS.items() if one.takes_columns] == ["table"]
