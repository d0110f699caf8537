"""Settings: from and to dictionaries, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from unknot.errors import SpecError
from unknot.schema import check
from unknot.train import TrainConfig
from unknot.train.config import TRAIN


def test_a_config_survives_yaml() -> None:
    config = TrainConfig(
        objective={"name": "semi_supervised", "alpha": 50},
        epochs=3,
        learning_rate={"name": "cosine", "start": 1e-3, "end": 0.0, "warmup": 100},
        labeled_by=("digit",),
        average_weights=0.999,
    )
    assert TrainConfig.from_dict(yaml.safe_load(yaml.safe_dump(config.to_dict()))) == config


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"steps": 1, "learning_rates": 0.1}, "unknown key 'learning_rates'; did you mean 'learning_rate'"),
        ({}, "either steps or epochs"),
        ({"steps": 1, "epochs": 1}, "either steps or epochs"),
        ({"steps": 0}, "steps is a whole number of at least 1"),
        ({"steps": 1, "labeled_share": 1.5}, "labeled_share is a number from 0 to 1, but got 1.5"),
        ({"steps": 1, "precision": "16"}, "precision is one of 32-true, bf16-mixed"),
        ({"steps": 1, "device": "tpu"}, "device is one of"),
        ({"steps": 1, "seed": -1}, "seed is a whole number"),
        ({"steps": 1, "betas": [0.9]}, "betas is a list of two numbers"),
        (
            {"steps": 1, "learning_rate": {"name": "cosin", "start": 1.0}},
            "learning_rate.name is one of constant, .* but got 'cosin'; did you mean 'cosine'",
        ),
        (
            {"steps": 1, "learning_rate": {"name": "cosine", "strat": 1.0}},
            "unknown key 'strat'; did you mean 'start'",
        ),
        ({"steps": 1, "learning_rate": "fast"}, "learning_rate is a number of at least 0, but got 'fast'"),
        ({"steps": 1, "temperature": {"name": "exponential", "start": 1.0}}, "'start' and 'end' above 0"),
    ],
)
def test_wrong_settings_are_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        TrainConfig.from_dict(given)


def test_the_defaults_are_allowed() -> None:
    check(TrainConfig(steps=1).to_dict(), TRAIN, "train")
    assert TrainConfig.from_dict({"steps": 1, "objective": None}) == TrainConfig(steps=1)


def test_the_objective_and_those_of_stages_are_checked_with_the_rest() -> None:
    with pytest.raises(SpecError, match="did you mean 'hfvae'"):
        TrainConfig(objective="hfva", steps=1).refuse_wrong_settings()
    with pytest.raises(SpecError, match="no symbol 'alfa'"):
        TrainConfig.from_dict(
            {"steps": 9, "stages": [{"steps": 1, "objective": {"name": "elbo", "alfa": 1}}]}
        )
