"""β-VAE score: known answers and chance."""

from dataclasses import replace

import numpy as np
import pytest

from tests.metrics import cases
from tests.statistics import standard_errors
from unknot.errors import DataError
from unknot.metrics import beta_vae
from unknot.metrics.protocols import settings

FAST = replace(settings("beta_vae"), train=1000, test=600)


def test_known_answers() -> None:
    for codes in (cases.PERFECT, cases.PERFECT[:, ::-1], cases.DUPLICATED):
        assert beta_vae(codes, cases.FACTORS, protocol=FAST).value > 0.99
    # pairs are drawn from finite groups, where a useless code is exactly as spread as everywhere
    chance = beta_vae(cases.USELESS, cases.USELESS_FACTORS, protocol=FAST).value
    assert abs(chance - 1 / 3) < standard_errors() * (2 / 9 / 600) ** 0.5


def test_a_linear_classifier_undoes_little_rotation() -> None:
    """It cannot see that codes are mixed: the profile of all differences gives the factor away."""
    assert beta_vae(cases.ROTATED, cases.FACTORS, protocol=FAST).value > 0.8


def test_a_discrete_code_differs_or_not() -> None:
    codes = {"c": np.array([3, 0, 4, 1, 2])[cases.FACTORS[:, 2]], "z": cases.PERFECT[:, :2]}
    assert beta_vae(codes, cases.FACTORS, protocol=FAST).value > 0.99


def test_other_names_of_categories_change_nothing() -> None:
    one = beta_vae({"c": cases.FACTORS[:, 2]}, cases.FACTORS, protocol=FAST).value
    other = beta_vae(
        {"c": np.array([3, 0, 4, 1, 2])[cases.FACTORS[:, 2]]}, cases.FACTORS, protocol=FAST
    ).value
    assert one == other


def test_one_factor_alone_is_refused() -> None:
    with pytest.raises(DataError, match="one only"):
        beta_vae(cases.PERFECT, cases.FACTORS[:, 0], protocol=FAST)
