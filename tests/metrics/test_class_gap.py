"""E19's gap: by hand where the information is known."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.errors import DataError
from unknot.metrics import class_gap

CLASS = cases.FACTORS[:, 2]


def test_known_answers() -> None:
    good = {"c": CLASS, "z": cases.PERFECT[:, :2]}
    assert class_gap(good, CLASS).value == pytest.approx(np.log(5))
    leaking = {"c": CLASS, "z": CLASS + 0.0}
    assert class_gap(leaking, CLASS).value == pytest.approx(0)
    swapped = {"c": cases.FACTORS[:, 0], "z": CLASS + 0.0}
    assert class_gap(swapped, CLASS).value == pytest.approx(-np.log(5))


def test_both_kinds_of_code_are_needed() -> None:
    with pytest.raises(DataError, match="all codes are continuous"):
        class_gap(cases.PERFECT, CLASS)
    with pytest.raises(DataError, match="all codes are discrete"):
        class_gap(cases.FACTORS, CLASS)
