"""The names of the package: all there, and the heavy ones loaded only when asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import unknot

HEAVY = ["sklearn", "lightning_fabric", "matplotlib", "rich", "typer", "PIL", "unknot.models", "unknot.train"]


def test_every_name_is_there_and_listed() -> None:
    for name in unknot.__all__:
        assert getattr(unknot, name) is not None
        assert name in dir(unknot)
    with pytest.raises(AttributeError, match="no attribute 'Tracer'"):
        unknot.Tracer  # noqa: B018


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = f"import sys, unknot; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    program = "import sys; from unknot import GraphicalModel, node; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
