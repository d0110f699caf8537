"""InfoMEC: the reference's numbers, known answers, and the explicitness that does not flatter."""

import numpy as np
import pytest

from tests.metrics import cases
from unknot.metrics import infomec


def numbers(found) -> tuple[float, float, float]:
    return found.modularity, found.compactness, found.explicitness


def test_the_references_numbers() -> None:
    codes, factors = cases.golden()
    assert numbers(infomec(codes, factors)) == pytest.approx((0.8482, 0.7620, 0.9225), abs=1e-3)
    rounded = np.round(codes)
    rounded[:, 3] = 0
    assert numbers(infomec(rounded, factors, True)) == pytest.approx((0.8593, 0.7669, 0.8618), abs=1e-3)


def test_known_answers() -> None:
    assert numbers(infomec(cases.FACTORS, cases.FACTORS)) == pytest.approx((1, 1, 1), abs=1e-3)
    twice = np.concatenate([cases.FACTORS, cases.FACTORS], 1)
    assert numbers(infomec(twice, cases.FACTORS)) == pytest.approx(
        (1, (1 / 2 - 1 / 6) / (1 - 1 / 6), 1), abs=1e-3
    )
    useless = infomec(cases.USELESS, cases.USELESS_FACTORS, True)
    assert useless.modularity == pytest.approx(0, abs=1e-6)
    assert useless.explicitness == pytest.approx(0, abs=1e-3)


def test_continuous_codes_and_rotation() -> None:
    perfect, rotated = infomec(cases.PERFECT, cases.FACTORS), infomec(cases.ROTATED, cases.FACTORS)
    assert perfect.modularity > 0.95
    assert perfect.compactness > 0.95
    assert rotated.modularity < 0.7
    assert rotated.explicitness > 0.5


def test_inactive_codes_are_left_out() -> None:
    codes = np.concatenate([cases.PERFECT, 0.01 * cases.NOISY[:, :1]], 1)
    found = infomec(codes, cases.FACTORS)
    assert found.active.tolist() == [True, True, True, False]
    assert numbers(infomec(np.zeros((900, 2)), cases.FACTORS))[:2] == (0, 0)


def test_codes_without_information_are_flattered_in_sample_and_not_held_out() -> None:
    theirs, honest = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        factor = (rng.random(300) < 0.2).astype(int)
        noise = rng.normal(size=(300, 8))
        theirs.append(infomec(noise, factor).explicitness)
        honest.append(infomec(noise, factor, protocol="hsu2023-held-out").explicitness)
    assert min(theirs) > 0
    assert np.mean(honest) < 0


def test_held_out_explicitness_of_perfect_codes() -> None:
    assert infomec(cases.FACTORS, cases.FACTORS, protocol="hsu2023-held-out").explicitness > 0.99
