"""The schema of a model is about every setting, and its defaults are allowed."""

from __future__ import annotations

from dataclasses import asdict, fields

from unknot.models.node_spec import NodeSpec
from unknot.models.spec import ModelSpec
from unknot.models.spec_schema import MODEL, NODE
from unknot.schema import check


def test_every_setting_has_its_schema() -> None:
    assert set(NODE["properties"]) == {field.name for field in fields(NodeSpec)} - {"name"}
    assert set(MODEL["properties"]) == {field.name for field in fields(ModelSpec)} - {"recognition_order"}


def test_the_defaults_are_allowed() -> None:
    settings = asdict(NodeSpec("z", "normal"))
    del settings["name"]
    check(settings, NODE, "node")
