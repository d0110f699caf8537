"""Files of settings: read, or refused in one sentence."""

from __future__ import annotations

import pytest

from unknot.errors import SpecError
from unknot.yaml_file import read_yaml


def test_a_table_of_settings(tmp_path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text("nodes: {x: {family: normal}}")
    assert read_yaml(path, "model file", "nodes") == {"nodes": {"x": {"family": "normal"}}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nodes: [", "not valid YAML"),
        (b"\xff\xfe\xff", "not valid YAML"),
        (b"- 1", "sections nodes"),
        (
            b"train: {steps: 9}\ntrain: {seed: 1}",
            "not valid YAML: 'train' comes twice in one table: join the two.",
        ),
        (b"a: {b: 1, c: 2, b: 3}", "'b' comes twice"),
    ],
)
def test_anything_else_is_refused(tmp_path, content: bytes, message: str) -> None:
    path = tmp_path / "model.yaml"
    path.write_bytes(content)
    with pytest.raises(SpecError, match=message):
        read_yaml(path, "model file", "nodes")


def test_a_file_that_is_not_there(tmp_path) -> None:
    with pytest.raises(SpecError, match="cannot read the model file"):
        read_yaml(tmp_path / "absent.yaml", "model file", "nodes")
