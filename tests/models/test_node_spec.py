"""Nodes as data: what node() takes and refuses, and that each setting is declared once."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from unknot.errors import SpecError
from unknot.models import NodeSpec, node
from unknot.models.by_name import Named
from unknot.models.node_spec import NODE
from unknot.schema import settings_table

GUIDE = Path(__file__).parent.parent.parent / "docs" / "guide.md"


def test_names_become_tuples_and_networks_named_choices() -> None:
    one = node("z", "normal", 2, inferred_from="x", encoder={"name": "mlp", "hidden": [4]})
    assert one.inferred_from == ("x",)
    assert one.family == Named("normal")
    assert one.encoder == Named("mlp", {"hidden": [4]})
    assert one == NodeSpec("z", "normal", 2, inferred_from=["x"], encoder={"name": "mlp", "hidden": [4]})  # type: ignore[arg-type]


def test_a_node_without_inferred_from_is_data() -> None:
    assert node("x", "bernoulli", parents="z").is_data
    assert not node("z", "normal", 2, inferred_from="x").is_data


def test_plain_data_holds_what_differs_from_the_defaults() -> None:
    one = node(
        "z", {"name": "normal"}, 2, inferred_from="x", encoder="mlp", decoder={"name": "mlp", "hidden": [3]}
    )
    plain = {"family": "normal", "size": 2, "inferred_from": ["x"], "encoder": "mlp"}
    assert one.to_dict() == {**plain, "decoder": {"name": "mlp", "hidden": [3]}}
    assert node("z", **one.to_dict()) == one


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"label": True}, "unknown key 'label'; did you mean 'labels'"),
        ({"labels": 1}, "model.nodes.digit.labels is true or false, but got 1"),
        ({"inferred_from": [1]}, "is a word or a text, but got 1"),
        ({"encoder": {"hidden": [4]}}, "needs 'name'"),
        ({"encoder": 3}, "a name, or a mapping of a name and options, but got 3"),
    ],
)
def test_wrong_settings_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        node("digit", "concrete", 10, **settings)
    assert message in str(caught.value)


def test_the_schema_and_the_guide_come_from_the_declaration() -> None:
    assert set(NODE["properties"]) == {one.name for one in fields(NodeSpec)} - {"name"}
    assert NODE["required"] == ["family"]
    assert settings_table(NodeSpec) in GUIDE.read_text()
