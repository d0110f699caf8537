"""A toy experiment that trains nothing, for tests of the ledger and its pages."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.ledger.experiment import Experiment, Measure, Yardstick

CASE = {"row": "ours", "column": "M = 100", "labels": 100}
OTHER = {"row": "ours", "column": "M = 1000", "labels": 1000}
S17 = Yardstick("S17", {"M = 100": (9.71, 0.91), "M = 1000": 2.88})


def toy(run: Callable[..., Any], cases: Any = (CASE,), **more: Any) -> Experiment:
    """An experiment named toy, of one measure unless told otherwise."""
    settings = {
        "measures": [Measure("error", "error", "%")],
        "budgets": {"smoke": "seconds", "quick": "a minute"},
        "yardsticks": [S17],
        "judged": {"ours": "S17"},
        **more,
    }
    return Experiment("toy", "S17 Fig. 3", "A toy.", lambda tier: cases, run, **settings)


def constant(value: float) -> Callable[..., dict[str, float]]:
    return lambda settings, seed, pictures: {"error": value}


def install(monkeypatch: pytest.MonkeyPatch, one: Experiment) -> Experiment:
    """The registry knows the toy alone, so that jobs find it as they find real experiments."""
    monkeypatch.setattr("experiments.ledger.registry.EXPERIMENTS", {one.name: one})
    return one


def png(path: Path, shade: int = 0) -> None:
    """A real picture of one pixel."""
    from PIL import Image

    Image.new("L", (1, 1), shade).save(path)
