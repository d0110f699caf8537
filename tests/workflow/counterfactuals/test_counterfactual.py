"""The record: as text, and as JSON has it."""

from __future__ import annotations

import json

from tests.workflow.counterfactuals.test_verdict import CLEAN


def test_text_and_plain_data() -> None:
    first, *others = str(CLEAN).splitlines()
    assert first == CLEAN.verdict
    assert len(others) == len(CLEAN.rows)
    plain = json.loads(json.dumps(CLEAN.to_dict()))
    assert plain["verdict"] == CLEAN.verdict
    assert plain["reader"] == {"share": 0.97, "standard_error": 0.002, "real": 0.98}
    assert plain["carried"] == CLEAN.leak.carried
