"""``python -m experiments``: the list, one experiment, and the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.__main__ import main
from tests.experiments.toy import CASE, OTHER, install, png, toy


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_toy(settings, seed, pictures):
        if pictures is not None:
            png(pictures / "digits.png")
        return {"error": 5.0}

    one = toy(run_toy, [CASE, OTHER])
    monkeypatch.setattr("experiments.__main__.EXPERIMENTS", {one.name: one})
    monkeypatch.setattr("experiments.__main__.revision_of", lambda module: "abc")
    install(monkeypatch, one)


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, standard output and error stream."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def test_results_are_made_listed_and_written_to_a_page(capsys, tmp_path: Path, known) -> None:
    results, pages, readme = tmp_path / "results", tmp_path / "docs" / "results", tmp_path / "README.md"
    pages.mkdir(parents=True)
    (pages / "stale.md").write_text("")
    readme.write_text("<!-- results -->\n<!-- end of results -->\n")
    where = ("--results", results, "--workers", "1")
    code, out, _ = run(capsys, "run", "toy", "--only", "M = 100", *where)
    assert code == 0
    assert "| ours | 5.00 ± 0.00 | not run |" in out
    code, out, _ = run(capsys, "run", "toy", *where)
    assert "3 of 6 trainings are done already" in out
    code, out, _ = run(capsys, "page", pages, "--summary", readme, "--results", results)
    assert code == 0
    assert "(../../results/figures/toy/ours-m-1000-digits.png)" in (pages / "toy.md").read_text()
    assert {path.name for path in pages.iterdir()} == {"index.md", "gallery.md", "toy.md", "toy.csv"}
    assert "S17, our best" in readme.read_text()
    code, out, _ = run(capsys, "list", "--results", results)
    for text in ("smoke: seconds", "quick: a minute", "M = 1000", "5.00"):
        assert text in out


def test_uncommitted_code_is_refused_or_writes_to_another_folder(
    capsys, tmp_path: Path, known, monkeypatch
) -> None:
    monkeypatch.setattr("experiments.__main__.revision_of", lambda module: "abc-dirty")
    where = ("toy", "--seeds", "1", "--results", tmp_path, "--workers", "1")
    code, _, error = run(capsys, "run", *where)
    assert code == 2
    assert "not committed" in error
    assert not list(tmp_path.iterdir())
    code, _, _ = run(capsys, "run", *where, "--allow-dirty")
    assert code == 0
    assert [path.name for path in tmp_path.glob("*")] == ["uncommitted"]
    code, _, _ = run(capsys, "run", *where, "--tier", "smoke")
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("toy", "--tier", "long"), "smoke, quick"),
        (("toi",), "there is no experiment 'toi'; did you mean 'toy'"),
        (("toy", "--only", "z"), "expected a part of a row or column"),
    ],
)
def test_mistakes_are_refused(capsys, tmp_path: Path, known, arguments, sentence) -> None:
    code, _, err = run(capsys, "run", *arguments, "--results", tmp_path / "results")
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
