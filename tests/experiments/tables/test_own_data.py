"""own-data: groups apart, every method with the same rows."""

from __future__ import annotations

from experiments.tables.own_data import EXPERIMENT, LABELS

GROUPS = ("tune", "look", "fresh", "redrawn")


def test_four_groups_and_every_method_of_each_table() -> None:
    found = EXPERIMENT.cases("quick")
    tables = {(c["group"], c["package"], c["item"]) for c in found}
    assert [sum(group == name for group, *_ in tables) for name in GROUPS] == [14, 14, 14, 16]
    for table in tables:
        mine = [c for c in found if (c["group"], c["package"], c["item"]) == table]
        assert len(mine) == len(LABELS) * (5 if mine[0]["numbers"] else 7)


def test_no_table_is_in_two_groups() -> None:
    found = EXPERIMENT.cases("quick")
    tables = [{(c["package"], c["item"]) for c in found if c["group"] == group} for group in GROUPS]
    assert len(set.union(*tables)) == sum(len(group) for group in tables)
