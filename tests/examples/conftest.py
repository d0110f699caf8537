"""Comparisons with written-out formulas are in double precision."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def double() -> Iterator[None]:
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
