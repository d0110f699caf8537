"""MIG-sup: known answers, a slow twin, its two ways to divide."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics import mig_sup


@pytest.mark.parametrize("protocol", ["carbonneau2020", "li2020"])
def test_known_answers(protocol: str) -> None:
    for codes in (cases.PERFECT, cases.PERFECT[:, ::-1], cases.DUPLICATED):  # it cannot see a copy
        assert mig_sup(codes, cases.FACTORS, protocol=protocol).value == pytest.approx(1)
    assert mig_sup(cases.USELESS, cases.USELESS_FACTORS, protocol=protocol).value == pytest.approx(0)


def test_dead_codes_count_or_are_left_out() -> None:
    codes = np.concatenate([cases.PERFECT, np.zeros((900, 1))], 1)
    assert mig_sup(codes, cases.FACTORS, protocol="carbonneau2020").value == pytest.approx(3 / 4)
    assert mig_sup(codes, cases.FACTORS, protocol="li2020").value == pytest.approx(1)
    assert mig_sup(np.zeros((900, 1)), cases.FACTORS, protocol="li2020").value == 0


@pytest.mark.parametrize(("protocol", "bins"), [("carbonneau2020", 10), ("li2020", 20)])
def test_against_the_slow_twin(protocol: str, bins: int) -> None:
    codes, factors = cases.ROTATED, cases.FACTORS
    matrix = cases.slow_matrix(codes, factors, bins)
    gaps = []
    for d in range(3):
        code = cases.slow_entropy(cases.slow_bin(codes[:, d], bins))
        whole = [code if bins == 10 else cases.slow_entropy(list(factors[:, k])) for k in range(3)]
        ordered = sorted(matrix[d][k] / whole[k] for k in range(3))
        gaps.append(ordered[-1] - ordered[-2])
    assert mig_sup(codes, factors, protocol=protocol).value == pytest.approx(sum(gaps) / 3)
