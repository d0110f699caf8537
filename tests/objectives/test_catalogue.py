"""The catalogue names every row of Table 1, with symbols that its functions really take."""

import inspect

import pytest

import unknot
from unknot.objectives import CATALOGUE


def test_every_row_of_table_1_is_there():
    assert list(CATALOGUE) == [
        "vae",
        "beta_vae",
        "dip_vae",
        "info_vae",
        "capacity_vae",
        "anchor_vae",
        "information_dropout",
        "beta_tcvae",
        "factor_vae",
        "hfvae",
    ]


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=list(CATALOGUE))
def test_entries_describe_their_functions(entry):
    assert getattr(unknot.objectives, entry.name) is entry.function
    signature = inspect.signature(entry.function).parameters
    assert set(entry.symbols) <= set(signature)
    described = set(entry.symbols) | {"q", "p", "dataset_size", "options", "weights", "variables"}
    assert set(signature) <= described
    assert "Rewards" in (entry.function.__doc__ or "") or "rewards" in (entry.function.__doc__ or "")
    assert entry.rewards
    assert entry.reference


def test_defaults_are_those_of_the_functions():
    assert CATALOGUE["hfvae"].defaults == {"alpha": 1.0, "beta": 4.0, "gamma": 3.0, "groups": None}
    assert CATALOGUE["hfvae"].needs_dataset_size
    assert not CATALOGUE["beta_vae"].needs_dataset_size
