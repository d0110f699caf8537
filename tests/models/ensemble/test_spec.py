"""An ensemble as data: there and back, and what is refused."""

import json
from typing import Any

import pytest

from unknot.errors import SpecError
from unknot.models.ensemble.spec import SETTINGS, Setting, read_ensemble

PLAIN: dict[str, Any] = {
    "columns": [{"name": "a", "kind": "real"}],
    "factors": {"kind": {"family": "concrete", "size": 2}},
    "rows": 50,
    "style": 2,
}


def test_there_and_back() -> None:
    spec = read_ensemble(PLAIN)
    assert spec.settings == SETTINGS
    assert read_ensemble(json.loads(json.dumps(spec.to_dict()))) == spec


def test_its_nodes_are_factors_style_and_table() -> None:
    kind, style, x = read_ensemble(PLAIN).nodes
    assert (kind.name, kind.labels, kind.size) == ("kind", True, 2)
    assert style.inferred_from == ("x", "kind")
    assert (x.family.name, x.parents) == ("table", ("kind", "style"))
    assert [column["name"] for column in x.family.options["columns"]] == [c["name"] for c in PLAIN["columns"]]


def test_factors_may_have_the_names_of_its_own_nodes() -> None:
    taken = {name: {"family": "concrete", "size": 2} for name in ("x", "style")}
    spec = read_ensemble({**PLAIN, "factors": taken})
    assert [one.name for one in spec.nodes] == ["x", "style", "style_", "x_"]


def test_settings_that_generate_come_first() -> None:
    spec = read_ensemble({**PLAIN, "settings": [{"generative": False}, {"hidden": True}]})
    assert spec.settings == (Setting(hidden=True), Setting(generative=False))


def test_plain_settings_come_last() -> None:
    plain = {"generative": False, "plain": True}
    spec = read_ensemble({**PLAIN, "settings": [plain, {"generative": False}, {}]})
    assert [(one.generative, one.plain) for one in spec.settings] == [
        (True, False),
        (False, False),
        (False, True),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fold": 5}, "unknown key 'fold'.*folds"),
        ({"folds": 1}, "folds is a whole number of at least 2"),
        ({"hidden": 0}, "hidden is a whole number"),
        ({"factors": {}}, "no labeled factor"),
        ({"factors": {"kind": {"family": "poisson", "size": 2}}}, "is concrete"),
        ({"settings": [{"generative": False}]}, "at least one of its settings"),
        ({"settings": [{"rigde": 1.0}]}, "has no 'rigde'.*ridge"),
        ({"settings": [{}, {"plain": True}]}, "neither a decoder nor a hidden layer"),
    ],
)
def test_what_is_no_ensemble_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_ensemble({**PLAIN, **change})


def test_what_the_data_give_is_asked_for() -> None:
    with pytest.raises(SpecError, match="needs 'columns'"):
        read_ensemble({key: value for key, value in PLAIN.items() if key != "columns"})
