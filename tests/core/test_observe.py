"""Observations take the form of the site's draws."""

import pytest
import torch
from torch.distributions import Bernoulli, Categorical, Normal, OneHotCategorical

from unknot.core.observe import as_value, check_shapes
from unknot.core.relaxed import Concrete
from unknot.errors import TraceError

ONE_HOT = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    "dist", [Concrete(torch.zeros(2, 3), 0.5), OneHotCategorical(logits=torch.zeros(2, 3))]
)
@pytest.mark.parametrize(
    "given",
    [
        [1, 2],
        torch.tensor([1, 2], dtype=torch.int32),
        torch.tensor(ONE_HOT),
        torch.tensor(ONE_HOT).long(),
        torch.tensor(ONE_HOT).bool(),
    ],
)
def test_classes_become_one_hot(dist, given) -> None:
    assert as_value("y", dist, given).tolist() == ONE_HOT


def test_several_classes_per_item() -> None:
    dist = Concrete(torch.zeros(2, 4, 3), 0.5)
    assert as_value("y", dist, torch.zeros(2, 4, dtype=torch.long)).shape == (2, 4, 3)


def test_unknown_classes_are_any_class() -> None:
    dist = Categorical(logits=torch.zeros(2, 3))
    assert as_value("y", dist, torch.tensor([-1, 2]), torch.tensor([False, True])).tolist() == [0, 2]


def test_numbers_take_the_type_of_the_parameters() -> None:
    assert as_value("x", Normal(torch.zeros(2, dtype=torch.float64), 1.0), [1, 2]).dtype == torch.float64
    assert as_value("x", Bernoulli(logits=torch.zeros(2)), torch.tensor([True, False])).tolist() == [1.0, 0.0]
    value = torch.zeros(2)
    assert as_value("x", Normal(torch.zeros(2), 1.0), value) is value


@pytest.mark.parametrize(
    ("own", "value", "leading", "fits"),
    [
        ((), (4, 5), 1, True),
        ((5,), (4, 5), 1, True),
        ((4, 1), (4, 5), 1, True),
        ((3, 4, 5), (4, 5), 1, True),
        ((4, 5), (3, 4, 5), 2, True),
        ((3, 1, 5), (3, 4, 5), 2, True),
        ((4, 6), (4, 5), 1, False),
        ((4, 5), (4, 1), 1, False),
        ((3, 5), (4, 5), 1, False),
        ((4, 1), (4,), 1, False),
        ((3, 1, 5), (4, 5), 1, False),
        ((1, 1), (1,), 1, True),
    ],
)
def test_check_shapes(own, value, leading: int, fits: bool) -> None:
    dist = Normal(torch.zeros(own), torch.ones(own))
    if fits:
        check_shapes("x", dist, torch.zeros(value), leading)
    else:
        with pytest.raises(TraceError, match="site 'x': the value has shape"):
            check_shapes("x", dist, torch.zeros(value), leading)
