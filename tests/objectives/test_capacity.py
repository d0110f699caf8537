"""Capacity grows linearly and then stays."""

import pytest

from unknot.objectives import annealed_capacity


@pytest.mark.parametrize(("step", "expected"), [(0, 0.0), (-5, 0.0), (250, 5.0), (500, 10.0), (9000, 10.0)])
def test_capacity_is_linear_up_to_its_final_value(step, expected):
    assert annealed_capacity(step, final=10.0, steps=500) == expected
