"""MIG: known answers, the reference's number, a slow twin, invariances."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics.gaps import mig


def test_known_answers() -> None:
    assert mig(cases.PERFECT, cases.FACTORS).value == pytest.approx(1)
    assert mig(cases.PERFECT[:, ::-1], cases.FACTORS).value == pytest.approx(1)
    assert mig(cases.DUPLICATED, cases.FACTORS).value == pytest.approx(0)
    assert mig(cases.USELESS, cases.USELESS_FACTORS).value == pytest.approx(0)
    assert mig(cases.PERFECT, cases.FACTORS).by_factor == pytest.approx(
        {"factor[0]": 1, "factor[1]": 1, "factor[2]": 1}
    )


def test_noise_and_rotation_lower_it() -> None:
    noisy, rotated = (mig(codes, cases.FACTORS).value for codes in (cases.NOISY, cases.ROTATED))
    assert 0.2 < noisy < 0.9
    assert rotated < 0.5 * noisy


def test_the_references_number() -> None:
    assert mig(*cases.golden()).value == pytest.approx(0.6347, abs=1e-3)


@pytest.mark.parametrize(("protocol", "bins"), [("locatello2019", 20), ("carbonneau2020", 10)])
def test_against_the_slow_twin(protocol: str, bins: int) -> None:
    codes, factors = cases.ROTATED, cases.FACTORS
    matrix = cases.slow_matrix(codes, factors, bins)
    gaps = []
    for k in range(3):
        ordered = sorted(matrix[d][k] for d in range(3))
        gaps.append((ordered[-1] - ordered[-2]) / cases.slow_entropy(list(factors[:, k])))
    assert mig(codes, factors, protocol=protocol).value == pytest.approx(sum(gaps) / 3)


def test_order_scale_and_names_do_not_matter() -> None:
    first = mig(cases.NOISY, cases.FACTORS).value
    rows, columns = np.random.default_rng(0).permutation(len(cases.NOISY)), [2, 0, 1]
    assert mig(cases.NOISY[rows], cases.FACTORS[rows]).value == pytest.approx(first)
    assert mig(cases.NOISY[:, columns] * 8 + 3, cases.FACTORS).value == pytest.approx(first)
    words = np.array(["b", "a"])[cases.FACTORS[:, 0]]
    named = {"word": words, "rest": cases.FACTORS[:, 1:]}
    assert mig(cases.NOISY, named).value == pytest.approx(first)


def test_discrete_and_continuous_codes_together() -> None:
    codes = {"c": cases.FACTORS[:, 0], "z": cases.PERFECT[:, 1:]}
    assert mig(codes, cases.FACTORS).value == pytest.approx(1)


def test_one_code_is_its_own_gap() -> None:
    assert mig(cases.PERFECT[:, 0], cases.FACTORS[:, 0]).value == pytest.approx(1)


def test_at_most_the_protocols_points() -> None:
    codes, factors = (np.tile(array, (20, 1)) for array in (cases.NOISY, cases.FACTORS))  # 18,000 rows
    assert mig(codes, factors, seed=0).value != mig(codes, factors, seed=1).value
    assert mig(codes, factors, seed=0).value == mig(codes, factors, seed=0).value


def test_it_reads_well() -> None:
    assert repr(mig(cases.PERFECT, cases.FACTORS)) == "mig: 1.000 (locatello2019)"
