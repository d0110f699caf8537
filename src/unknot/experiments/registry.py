"""All experiments by name; each is one file of this folder."""

from __future__ import annotations

import difflib

from unknot.errors import SpecError
from unknot.experiments import mnist_demo
from unknot.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {one.name: one for one in (mnist_demo.EXPERIMENT,)}


def experiment(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, EXPERIMENTS, n=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise SpecError(f"there is no experiment '{name}'; {hint}There are: {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
