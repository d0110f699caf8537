"""The guide's files and commands, run from top to bottom in an empty folder. (Its Python session: test_docs.)"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unknot.workflow.recipe import Recipe

GUIDE = Path(__file__).parent.parent / "docs" / "guide.md"
BLOCK = re.compile(r"^```(\w+)[ ]?([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(GUIDE.read_text())


@pytest.mark.parametrize(
    ("name", "content"), [(name, text) for _, name, text in BLOCKS if name.endswith("yaml")]
)
def test_its_specs_are_valid(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert Recipe.read(tmp_path / name).train["steps"] > 0


@pytest.mark.parametrize(
    ("name", "content"), [(name, text) for _, name, text in BLOCKS if name.endswith("py")]
)
def test_its_scripts_run(
    name: str,
    content: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Photographs are real ones where they are at hand; where not, the script says why it draws its own."""
    monkeypatch.chdir(tmp_path)
    exec(compile(content, name, "exec"), {})
    made = {path.suffix for path in tmp_path.rglob("*") if path.is_file()}
    assert made == {
        {"wine.py": ".csv", "photographs.py": ".png", "arrays.py": ".npz", "docstrings.py": ".txt"}[name]
    }
    with capsys.disabled():
        print(capsys.readouterr().out, end="")


@pytest.mark.slow
def test_the_guide_runs(tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    commands = 0
    for language, name, content in BLOCKS:
        if name:
            (tmp_path / name).write_text(content)
        elif language == "sh":
            for command in content.splitlines():
                done = subprocess.run(
                    command,
                    shell=True,
                    cwd=tmp_path,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=300,
                )
                assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
                commands += 1
    assert commands == 29
    assert (tmp_path / "sweeps" / "spec" / "comparison.html").exists()
    for run in ("wine", "people", "digits", "docstrings", "topics"):
        assert (tmp_path / "runs" / run / "report.html").exists()
    assert len((tmp_path / "growers.csv").read_text().splitlines()) == 1 + 178
    assert (tmp_path / "runs" / "machines" / "config.yaml").exists()
