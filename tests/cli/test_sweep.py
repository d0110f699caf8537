"""`unknot sweep`: trains, ranks, writes the page; a second call does only what is missing; mistakes in one sentence."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.cli.running import SPEC, refused, run, spec_file
from unknot.cli.sweep import run_progress
from unknot.workflow.sweep import sweep as module

GRID = ("--grid", "train.objective.beta=1,4", "--workers", "1")
OBJECTIVE = SPEC.replace("steps: 6", "steps: 6, objective: {name: semi_supervised, alpha: 20}")


def test_train_rank_and_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, folder = spec_file(tmp_path, OBJECTIVE), tmp_path / "mine"
    code, out, _ = run(capsys, "sweep", spec, *GRID, "--seeds", "1", "-o", folder)
    assert code == 0
    assert "2 of 2: beta = 4, seed 0: error of digit" in out
    assert "A linear model on the same 100 labels" in out
    code, out, _ = run(capsys, "sweep", spec, *GRID, "--seeds", "2", "-o", folder, "--rank-by", "udr")
    assert code == 0
    assert "2 of 4 runs are done already." in out
    assert "Chosen without labels" in out
    ranking = json.loads((folder / "ranking.json").read_text())
    assert len(ranking["runs"]) == 4
    best = ranking["runs"][0]
    assert best["numbers"]["udr"] == max(one["numbers"]["udr"] for one in ranking["runs"])
    assert set(best["numbers"]) == {"error.digit", "mig", "udr", "model_centrality"}
    assert "First: " in (folder / "comparison.html").read_text()
    assert run(capsys, "evaluate", best["folder"])[0] == 0  # each is a run like any other
    code, out, _ = run(capsys, "sweep", spec, "--seeds", "1", "-o", folder, "--workers", "1")
    assert "4 more runs in" in out


def test_an_interrupt_says_what_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(task: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "train_here", stop)
    code, _, err = run(capsys, "sweep", spec_file(tmp_path, OBJECTIVE), *GRID, "-o", tmp_path / "mine")
    assert code == 130
    assert "0 of 6 runs are done and kept; the same command continues." in err


def test_failures_are_told_and_the_rest_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(task: object) -> None:
        raise ValueError("not today")

    monkeypatch.setattr(module, "train_here", fail)
    said = ("sweep", spec_file(tmp_path, OBJECTIVE), *GRID, "--seeds", "1", "-o", tmp_path / "mine")
    message = refused(capsys, *said)
    assert (
        "2 of 2 trainings failed, the first of them (beta = 1, seed 0) with ValueError: not today" in message
    )


def test_mistakes_are_refused_before_anything_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = spec_file(tmp_path, OBJECTIVE)
    assert "did you mean 'mig'" in refused(capsys, "sweep", spec, "--scores", "migg")
    ranked = ("--rank-by", "urd", "-o", tmp_path / "sweeps", "--workers", "1")
    assert "did you mean 'udr'" in refused(capsys, "sweep", spec, *ranked)
    assert "KEY=VALUE" in refused(capsys, "sweep", spec, "--grid", "train.steps")
    assert "beta = many" in refused(capsys, "sweep", spec, "--grid", "train.objective.beta=1,many")
    assert not (tmp_path / "sweeps").exists()


def test_help_helps(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "sweep", "--help")
    assert code == 0
    for word in ("--grid", "--seeds", "--rank-by", "--ray", "UDR"):
        assert word in out


# ---- A line for each run that has ended; in a terminal a bar beside them ---------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_count_on_from_what_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    with run_progress(5, 2) as end:
        end("beta = 4, seed 0: [done]")
    assert capsys.readouterr().out == "3 of 5: beta = 4, seed 0: [done]\n"


def test_a_terminal_shows_a_bar_and_the_line_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    with run_progress(5, 2) as end:
        end("kl[style]: done")
    assert "kl[style]: done" in stream.getvalue()
    assert "3/5" in stream.getvalue()
