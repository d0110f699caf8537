"""A row's numbers: mean, standard error, spread."""

import pytest
import torch

from tests.conformance.row import summary


def test_the_error_is_the_spread_over_the_root_of_the_count():
    assert summary(torch.tensor([1.0, 3.0, 5.0, 7.0])) == pytest.approx(
        (4.0, (5 / 3) ** 0.5, (20 / 3) ** 0.5)
    )
