"""`unknot check-estimators` prints every row and fails if an estimator is off."""

import dataclasses

import pytest

from tests.cli.test_cli import run
from unknot.objectives import conformance
from unknot.objectives.conformance import Row

ROW = Row("finite data set: q^/q - 1", "stratified", 64, 8, 0.001, 0.005, 0.3, "0: unbiased", True)


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (False, 1)])
def test_the_verdict_is_the_exit_code(monkeypatch, capsys, ok, code):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(conformance, "conformance", lambda: [ROW, dataclasses.replace(ROW, ok=ok)])
    ended, out, _ = run(capsys, "check-estimators")
    assert ended == code
    assert out.count("stratified") == 2
    assert f"{1 + ok} of 2 as expected" in out
