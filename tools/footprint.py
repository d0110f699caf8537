"""How many functions, in how many files of the package, one image passes: ``python tools/footprint.py``.

Two ways are walked by the commands themselves, with a profiler that notes every function of ours that is entered:
from an ``.npz`` file with images and labels to the loss of the first training step (``unknot fit``), and from the run
folder to the report (``unknot report``). Functions that only run while modules are imported count too, if
entered; module and class bodies, lambdas and comprehensions do not.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import unknot

SOURCE = Path(unknot.__file__).parent
SPEC = """
model: {kind: class_style, style: 3, width: 32}
train: {steps: 1, batch_size: 60, device: cpu, progress: false}
"""
Reached = set[tuple[str, str]]  # (file, function)


class _Arrived(Exception):
    """The walk is at its end."""


def reached(walk: Callable[[], Any], until: tuple[str, str] | None = None) -> Reached:
    """The functions of the package that ``walk`` enters, up to the first return from ``until`` if that is given."""
    found: Reached = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(f"{SOURCE}/"):
            return
        if not code.co_flags & inspect.CO_OPTIMIZED or code.co_name.startswith("<"):
            return  # the body of a module or class, a lambda, a comprehension
        place = (Path(code.co_filename).relative_to(SOURCE).as_posix(), code.co_qualname)
        if event == "call":
            found.add(place)
        elif place == until:
            raise _Arrived

    sys.setprofile(note)
    try:
        with contextlib.suppress(_Arrived):
            walk()
    finally:
        sys.setprofile(None)
    return found


def command(*arguments: str | Path) -> None:
    """Run a command of the package, silently."""
    from unknot.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main([str(argument) for argument in arguments])


def write_data(path: Path) -> None:
    """300 small digits, half of them labeled, 60 for testing."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images, labels = np.round(digits.images[:300] * 255 / 16).astype(np.uint8), digits.target[:300]
    shown = np.where(np.arange(240) % 2, labels[:240], -1)
    np.savez(path, x=images[:240], digit=shown, x_test=images[240:], digit_test=labels[240:])


def told(found: Reached) -> str:
    return f"{len(found)} functions in {len({file for file, _ in found})} files"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec, data, run = folder / "spec.yaml", folder / "data.npz", folder / "run"
        spec.write_text(SPEC)
        write_data(data)
        loss = ("train/step.py", "Step.forward")
        to_loss = reached(lambda: command("fit", spec, data, "--run", folder / "stopped"), until=loss)
        command("fit", spec, data, "--run", run)
        to_report = reached(lambda: command("report", run))
        assert loss in to_loss
        assert (run / "report.html").exists()
    print(f"file to loss:   {told(to_loss)}")
    print(f"run to report:  {told(to_report)}")


if __name__ == "__main__":
    main()
