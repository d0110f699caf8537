"""DCI: known answers for each kind of tree, discrete codes, and the chosen depth."""

from dataclasses import replace

import numpy as np
import pytest

from tests.metrics import cases
from unknot.errors import DataError
from unknot.metrics import dci
from unknot.metrics.protocols import settings

SMALL = slice(0, 450)  # boosting is slow, hence also few rounds
PROTOCOLS = ["eastwood2018", "locatello2019", "locatello2019-histogram"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_known_answers(protocol: str) -> None:
    for codes in (cases.PERFECT, cases.PERFECT[:, ::-1]):
        own = replace(settings("dci", protocol), trees=10)
        found = dci(codes[SMALL], cases.FACTORS[SMALL], protocol=own)
        assert (found.disentanglement, found.completeness) == pytest.approx((1, 1), abs=0.02)
        assert found.informativeness == 1
    assert found.matrix.sum(0) == pytest.approx(np.ones(3))
    assert found.matrix[::-1] == pytest.approx(np.eye(3), abs=0.02)


@pytest.mark.parametrize("protocol", ["eastwood2018", "locatello2019-histogram"])
def test_mixed_codes_are_informative_and_entangled(protocol: str) -> None:
    found = dci(cases.ROTATED, cases.FACTORS, protocol=protocol)
    assert found.informativeness > 0.9
    assert found.disentanglement < 0.5


def test_copies_cost_completeness_only() -> None:
    noise = 0.01 * np.random.default_rng(0).standard_normal(
        (900, 6)
    )  # else a tree takes the first of the two
    found = dci(cases.DUPLICATED + noise, cases.FACTORS)
    assert found.disentanglement > 0.95
    assert found.completeness < 0.95


def test_useless_codes_are_not_informative() -> None:
    found = dci(np.random.default_rng(0).normal(size=(900, 4)), cases.FACTORS)
    assert found.informativeness < 0.5
    assert found.disentanglement < 0.3


def test_discrete_codes_and_continuous_factors() -> None:
    factors = {"class": cases.FACTORS[:, 2], "number": cases.PERFECT[:, 0] + 2 * cases.PERFECT[:, 1]}
    codes = {
        "z": cases.PERFECT[:, 0] + 2 * cases.PERFECT[:, 1],
        "c": np.array([3, 0, 4, 1, 2])[cases.FACTORS[:, 2]],
    }
    for protocol in ("eastwood2018", "locatello2019-histogram"):
        found = dci(codes, factors, protocol=protocol)
        assert found.matrix == pytest.approx(np.array([[0, 1], [1, 0]]), abs=0.05)
        assert found.informativeness == pytest.approx(1, abs=0.01)


def test_a_constant_code_does_not_stop_the_count() -> None:
    """One reference code zeroes every code after the first without importance."""
    codes = np.concatenate([np.zeros((900, 1)), cases.PERFECT], 1)
    assert dci(codes, cases.FACTORS).disentanglement == pytest.approx(1, abs=0.02)


@pytest.mark.slow
def test_histograms_give_nearly_the_exact_importances() -> None:
    codes = cases.ROTATED + 0.3 * np.random.default_rng(0).standard_normal((900, 3))
    exact = dci(codes, cases.FACTORS, protocol="locatello2019")
    fast = dci(codes, cases.FACTORS, protocol="locatello2019-histogram")
    assert fast.matrix == pytest.approx(exact.matrix, abs=0.12)
    assert fast.disentanglement == pytest.approx(exact.disentanglement, abs=0.08)


def test_a_seed_makes_it_repeatable() -> None:
    once, again, other = (dci(cases.NOISY, cases.FACTORS, seed=s) for s in (0, 0, 1))
    assert (once.matrix == again.matrix).all()
    assert not (once.matrix == other.matrix).all()


def test_too_few_rows() -> None:
    with pytest.raises(DataError, match="too few"):
        dci(cases.PERFECT[:4], np.array([0, 0, 1, 1]))


def test_own_settings() -> None:
    own = replace(settings("dci"), trees=2, depths=(1,))
    assert dci(cases.PERFECT, cases.FACTORS, protocol=own).protocol == "own settings"
