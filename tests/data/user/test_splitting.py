"""A share for testing is a function of the number of items and the seed."""

from __future__ import annotations

import pytest
import torch

from unknot.data.user.splitting import share_for_testing
from unknot.errors import DataError


def test_every_row_is_in_one_part() -> None:
    parts = share_for_testing(0.25, 3)(20)
    assert torch.cat([parts["train"], parts["test"]]).sort().values.tolist() == list(range(20))
    assert len(parts["test"]) == 5
    assert share_for_testing(0.25, 3)(20)["test"].tolist() == parts["test"].tolist()
    assert share_for_testing(0.0, 3)(20) == {}
    with pytest.raises(DataError, match="leaves none"):
        share_for_testing(0.9, 0)(1)
