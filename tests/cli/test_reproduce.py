"""`unknot reproduce`: the list, one experiment, and the page."""

from pathlib import Path

import pytest

from tests.cli.running import refused, run
from tests.workflow.toy import CASE, OTHER, install, png, toy


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(settings, seed, pictures):
        if pictures is not None:
            png(pictures / "digits.png")
        return {"error": 5.0}

    install(monkeypatch, toy(made, [CASE, OTHER]))


def test_results_are_made_listed_and_written_to_a_page(capsys, tmp_path: Path, known) -> None:
    results, page = tmp_path / "results", tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    where = ("--results", results, "--workers", "1")
    code, out, _ = run(capsys, "reproduce", "toy", "--only", "M = 100", *where)
    assert code == 0
    assert "| ours | 5.00 ± 0.00 | not run |" in out
    code, out, _ = run(capsys, "reproduce", "toy", *where, "--page", page)
    assert "3 of 6 trainings are done already" in out
    assert "(../results/figures/toy/ours-m-1000-digits.png)" in page.read_text()
    code, out, _ = run(capsys, "reproduce", "--list", "--results", results)
    for text in ("smoke: seconds", "quick: a minute", "M = 1000", "5.00"):
        assert text in out


def test_mistakes_are_refused(capsys, tmp_path: Path, known) -> None:
    assert "smoke, quick, paper" in refused(capsys, "reproduce", "toy", "--tier", "long")
    assert "there is no experiment 'toi'; did you mean 'toy'" in refused(capsys, "reproduce", "toi")
    assert "no case is called so" in refused(
        capsys, "reproduce", "toy", "--only", "z", "--results", tmp_path / "results"
    )
    assert "say which experiment" in refused(capsys, "reproduce")
