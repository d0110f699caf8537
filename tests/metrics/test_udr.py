"""UDR: agreement under permutation and sign, live codes, the odd one out, a slow twin of the pair score."""

import numpy as np
import pytest

from unknot.errors import DataError
from unknot.metrics import udr
from unknot.metrics.restarts import _relative_strength

RNG = np.random.default_rng(0)
CODES = RNG.normal(size=(800, 4))
TURN = np.linalg.qr(RNG.normal(size=(4, 4)))[0]


def test_the_odd_one_out_is_not_chosen() -> None:
    permuted = -CODES[:, [2, 0, 3, 1]] + 0.1 * RNG.normal(size=CODES.shape)
    found = udr([CODES @ TURN, CODES, permuted])
    assert found.best in (1, 2)
    assert found.scores[0] == found.scores.min()
    assert repr(found).startswith(f"udr: restart {found.best} of [")


def test_permutations_and_signs_agree_fully() -> None:
    """A Lasso with α = .1 shrinks the one weight of 1 to .9, and .9²/.9 = .9."""
    found = udr([CODES, -CODES[:, ::-1]])
    assert found.scores == pytest.approx([0.9, 0.9], abs=0.02)


def test_dead_codes_do_not_count() -> None:
    dead = np.concatenate([CODES, 1e-3 * RNG.normal(size=(800, 2))], 1)
    assert udr([dead, dead[:, ::-1]]).value == pytest.approx(0.9, abs=0.02)
    divergences = [np.array([1, 1, 1, 1, 0, 0]), np.array([0, 0, 1, 1, 1, 1])]
    assert udr([dead * 100, 100 * dead[:, ::-1]], divergences=divergences).value == pytest.approx(
        0.9, abs=0.02
    )
    assert udr([np.zeros((50, 2)), CODES[:50]]).scores.tolist() == [0, 0]


def test_names_of_categories_do_not_matter() -> None:
    classes = RNG.integers(0, 3, 800)
    renamed = np.array([2, 0, 1])[classes]
    same = udr([{"c": classes, "z": CODES}, {"c": classes, "z": CODES}])
    other = udr([{"c": classes, "z": CODES}, {"c": renamed, "z": CODES}])
    assert same.value == pytest.approx(other.value)


def test_pair_score_by_hand() -> None:
    weights = np.array([[0.9, 0.0], [0.1, 0.5], [0.0, 0.0]])
    columns = (0.9**2 / 1.0 + 0.5**2 / 0.5) / 2
    rows = (0.9**2 / 0.9 + 0.5**2 / 0.6 + 0) / 3
    assert _relative_strength(weights) == pytest.approx((columns + rows) / 2)


def test_bad_input() -> None:
    with pytest.raises(DataError, match="two or more"):
        udr([CODES])
    with pytest.raises(DataError, match="same items"):
        udr([CODES, CODES[:10]])
    with pytest.raises(DataError, match="one number a code"):
        udr([CODES, CODES], divergences=[[1.0], [1.0]])
