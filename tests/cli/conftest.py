"""One trained run that the commands' tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

import unknot
from tests.cli.running import SPEC, spec_file
from unknot.cli import main


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run on the embedded digits. Tests only read it."""
    folder = tmp_path_factory.mktemp("trained")
    with unknot.validation(True), pytest.raises(SystemExit) as ended:
        main(["fit", str(spec_file(folder, SPEC)), "--run", str(folder / "run")])
    assert not ended.value.code
    return folder / "run"
