"""All experiments by name."""

from __future__ import annotations

import pytest

from experiments.ledger.registry import EXPERIMENTS, experiment
from unknot.errors import SpecError


def test_every_experiment_is_found_by_its_name() -> None:
    for name, one in EXPERIMENTS.items():
        assert experiment(name) is one
        assert one.name == name


def test_a_misspelt_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="did you mean 'faces'"):
        experiment("face")
