"""`unknot objectives` lists the catalogue and shows one entry in full."""

import pytest

from tests.cli.test_cli import run
from unknot.objectives.catalogue import CATALOGUE


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "320")


def test_every_objective_is_listed_with_formula_and_reference(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "objectives")
    assert code == 0
    for entry in CATALOGUE.values():
        line = next(line for line in out.splitlines() if line.startswith(f"{entry.name} "))
        assert entry.formula in line
        assert entry.reference in line


def test_one_objective_is_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "objectives", "hfvae")
    assert code == 0
    assert CATALOGUE["hfvae"].rewards in out
    assert "beta = 4.0: weight of correlation between groups" in out
    assert "dataset_size" in out


def test_a_misspelt_name_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "objectives", "hfvea")
    assert code == 2
    assert "did you mean 'hfvae'" in err
