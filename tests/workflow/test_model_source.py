"""Where a model comes from: read from plain data, and enough to make it again."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from unknot.data.from_arrays import from_arrays
from unknot.errors import SpecError
from unknot.models import node
from unknot.models.spec import read_spec
from unknot.workflow.model_source import PROGRAM, Described, Programmed, read_source

NODES = [node("z", "normal", 2, inferred_from=["x"]), node("x", "normal", parents=["z"])]
DATA = from_arrays(torch.rand(5, 3).numpy(), {"kind": [0, 1, 0, 1, 1]})


def test_a_description_makes_the_same_model_again() -> None:
    source = Described(read_spec(NODES))
    again = read_source(source.to_dict(), Path())
    assert again == source
    torch.manual_seed(0)
    one = source.build(torch.Size((3,))).state_dict()
    torch.manual_seed(0)
    two = again.build(torch.Size((3,))).state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert source.files() == {}
    assert source.label_names(DATA) == []


def test_a_program_is_kept_with_its_text(tmp_path: Path) -> None:
    text = (
        "import torch\n\nclass Mine(torch.nn.Module):\n    def encode(self, x, labels=None): ...\n"
        "    def decode(self, x, q): ...\n"
    )
    (tmp_path / "mine.py").write_text(text)
    source = read_source({"program": "mine.py:Mine"}, tmp_path)
    assert source == Programmed(tmp_path / "mine.py", "Mine")
    assert source.to_dict() == {"kind": "program", "program": f"{PROGRAM}:Mine", "arguments": {}}
    assert source.files() == {PROGRAM: text.encode()}
    assert source.label_names(DATA) == ["kind"]
    assert type(source.build(torch.Size((3,)))).__name__ == "Mine"


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ({"program": "mine.py:Mine", "argument": {}}, "unknown key 'argument'; did you mean 'arguments'"),
        ({"program": "mine.py"}, "program is FILE.py:CLASS"),
        ({"program": "mine.py:Mine", "arguments": [1]}, "arguments is a table"),
    ],
)
def test_mistakes_are_refused(described: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_source(described, Path())
