"""Rows of a table: columns that fit, and what is missing."""

from __future__ import annotations

import pytest
import torch
from torch import Size
from torch.distributions import Bernoulli

import unknot
from unknot.errors import SpecError
from unknot.models import node
from unknot.models.likelihoods.table import TableLikelihood

COLUMNS = [{"name": "a", "kind": "real", "mean": 0.0, "sd": 1.0}, {"name": "b", "kind": "binary"}]


def make(shape: tuple[int, ...], **settings) -> TableLikelihood:
    return TableLikelihood(node("x", "table", parents=["z"], **settings), Size(shape), 16)


def test_tables_need_columns_that_fit() -> None:
    with pytest.raises(SpecError, match="a table needs columns"):
        make((2,))
    with pytest.raises(SpecError, match="2 columns are described, but rows have 3"):
        make((3,), columns=COLUMNS)


def test_what_is_missing_is_not_scored() -> None:
    outputs = torch.randn(4, 3)  # a mean, a width, a logit
    rows = torch.tensor([[float("nan"), 1.0]]).expand(4, 2)
    p = unknot.Trace()
    make((2,), columns=COLUMNS).site(p, outputs, rows, "x")
    expected = Bernoulli(logits=outputs[:, 2]).log_prob(torch.ones(4))
    torch.testing.assert_close(p["x"].log_prob, expected)
