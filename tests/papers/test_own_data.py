"""own-data: groups apart, every method with the same rows."""

from __future__ import annotations

from unknot.papers.own_data import EXPERIMENT, LABELS


def test_three_groups_and_every_method_of_each_table() -> None:
    found = EXPERIMENT.cases("quick")
    tables = {(c["group"], c["package"], c["item"]) for c in found}
    assert [sum(group == name for group, *_ in tables) for name in ("tune", "look", "fresh")] == [14, 14, 14]
    for table in tables:
        mine = [c for c in found if (c["group"], c["package"], c["item"]) == table]
        assert len(mine) == len(LABELS) * (5 if mine[0]["numbers"] else 7)


def test_no_table_is_in_two_groups() -> None:
    found = EXPERIMENT.cases("quick")
    by_group = {
        g: {(c["package"], c["item"]) for c in found if c["group"] == g} for g in ("tune", "look", "fresh")
    }
    assert not by_group["tune"] & by_group["look"]
    assert not by_group["fresh"] & (by_group["tune"] | by_group["look"])
