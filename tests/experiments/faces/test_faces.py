"""faces: S17's graph, and an honest row for every cell."""

from __future__ import annotations

from experiments.faces.faces import ALONE, EXPERIMENT, MODEL
from unknot.models.spec import read_spec


def test_the_graph_is_the_papers() -> None:
    spec = read_spec(MODEL)
    assert set(spec["shape"].inferred_from) == {"identity", "light"}  # q(s | i, l), never x
    assert all(spec[name].inferred_from == ("x",) for name in ("identity", "light", "rest"))
    assert not any(node.parents for node in spec.latents)  # independent a priori


def test_every_column_has_its_labels_alone() -> None:
    cases = EXPERIMENT.cases("quick")
    columns = {case["column"] for case in cases}
    assert {case["column"] for case in cases if case["row"] == ALONE} == columns
    for case in cases:
        alone = case["train"]["objective"]["name"] == "supervised"
        assert alone == (case["row"] == ALONE)
