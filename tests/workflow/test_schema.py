"""The schema of a spec file: itself valid, and one with which every spec of the repository agrees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from unknot.errors import SpecError
from unknot.workflow.recipe import Recipe
from unknot.workflow.schema import spec_schema

ROOT = Path(__file__).parents[2]
SPECS = sorted(path for path in (ROOT / "examples").rglob("*.yaml"))


def test_it_is_a_json_schema() -> None:
    schema = json.loads(json.dumps(spec_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    known = {"data": {"name": "digits"}, "labels": {"budget": {"digit": 5}}, "train": {"steps": 3}}
    jsonschema.validate(known, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**known, "train": {"steps": 0}}, schema)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_our_own_specs_agree(path: Path) -> None:
    jsonschema.validate(yaml.safe_load(path.read_text()), spec_schema())


NODES = {
    "digit": {"family": "concrete", "size": 10, "inferred_from": "x", "labels": True},
    "x": {"family": "bernoulli", "parents": "digit"},
}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"labels": {"seed": None}}, "labels.seed is a whole number"),
        ({"labels": {"budget": {"digit": -1}}}, "labels.budget.digit is a number of labels, all, ids, or"),
        ({"labels": {"budget": {"digit": {"per": "a"}}}}, "labels.budget.digit: needs 'number'"),
        ({"labels": {"digit": 100}}, "labels: unknown key 'digit'; how many labels of a factor may be used"),
        ({"data": {"name": 5}}, "data.name is a word or a text, but got 5."),
        ({"data": {"file": "a.csv", "kinds": {"a": "real"}}}, "data.kinds.a is one of"),
        ({"data": {"file": "a.csv", "test_share": 2}}, "data.test_share is a number from 0 to 1"),
        ({"model": {"width": -1}}, "model.width is a whole number from 1 to 16384, but got -1."),
        ({"model": {"style": 0}}, "model.style is a whole number"),
        ({"model": {"nodes": {}}}, "model.nodes is a table that maps"),
        ({"model": {"nodes": {"z": 5}}}, "model.nodes.z is settings with at least a family, but got 5."),
        ({"model": {"nodes": {**NODES, "z": {"size": 2}}}}, "model.nodes.z: needs 'family'"),
        (
            {"model": {"nodes": {**NODES, "z": {"family": "normal", "size": [1]}}}},
            "model.nodes.z.size is a whole number",
        ),
        (
            {"model": {"nodes": {**NODES, "z": {"family": "normal", "parents": 1}}}},
            "model.nodes.z.parents is a node's name or a list of them, but got 1.",
        ),
        ({"train": {"steps": 5, "betas": float("inf")}}, "train.betas is a list of two numbers"),
    ],
)
def test_mistakes_are_named_by_their_place(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecError) as caught:
        Recipe.from_dict({"data": {"name": "digits"}, **given})
    assert str(caught.value).startswith(sentence)
