"""A fitted estimator that several files look at."""

from __future__ import annotations

import pytest
import torch

import unknot
from tests.estimator.small import CLASSES, IMAGES, small
from unknot import StructuredVAE


@pytest.fixture(scope="package")
def fitted() -> StructuredVAE:
    """Trained for long enough to know most digits."""
    torch.manual_seed(0)
    with unknot.validation(True):
        return small(steps=150, batch_size=128).fit(IMAGES[:1000], digit=CLASSES[:1000])
