"""The guide's files and commands, run from top to bottom in an empty folder. (Its Python session: test_docs.)"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parent.parent / "docs" / "guide.md"
BLOCK = re.compile(r"^```(\w+)[ ]?([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_guide_runs(tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    commands = 0
    for language, name, content in BLOCK.findall(GUIDE.read_text()):
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
    assert commands == 13
    assert (tmp_path / "runs" / "digits" / "report.html").exists()
    assert (tmp_path / "runs" / "machines" / "config.yaml").exists()
