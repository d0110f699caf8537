"""The schema of training settings is about all of them, and its defaults are allowed."""

from __future__ import annotations

from dataclasses import fields

from unknot.schema import check
from unknot.train.config import TrainConfig
from unknot.train.config_schema import TRAIN


def test_every_setting_has_its_schema() -> None:
    assert list(TRAIN["properties"]) == [field.name for field in fields(TrainConfig)]


def test_the_defaults_are_allowed() -> None:
    check(TrainConfig(steps=1).to_dict(), TRAIN, "train")
