"""The grid of a sweep: settings by dotted name, the values each of them takes, and all their combinations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from unknot.errors import SpecError
from unknot.models.yaml_file import parse_yaml
from unknot.suggest import did_you_mean
from unknot.workflow.recipe import SECTIONS

Grid = Mapping[str, Sequence[Any]]
Point = dict[str, Any]


def read_grid(words: Sequence[str]) -> dict[str, list[Any]]:
    """Values by setting, from words as ``train.objective.beta=1,4,12``; values are read as YAML.

    >>> read_grid(["train.steps=100,200", "model.hidden=[64],[64, 64]"])
    {'train.steps': [100, 200], 'model.hidden': [[64], [64, 64]]}
    """
    grid: dict[str, list[Any]] = {}
    for word in words:
        key, equals, values = word.partition("=")
        if not equals or not key or not values.strip():
            raise SpecError(
                f"--grid takes KEY=VALUE,VALUE,... as in train.objective.beta=1,4,12, but got '{word}'."
            )
        section, dot, _ = key.partition(".")
        if section not in SECTIONS or not dot:
            raise SpecError(
                f"--grid {key}: say the section too, as in train.{key}; {did_you_mean(section, SECTIONS)}"
            )
        if key == "train.seed":
            raise SpecError("--grid train.seed: seeds are not a setting to choose; say how many, --seeds 5.")
        if key in grid:
            raise SpecError(f"--grid {key} comes twice: say all its values at once, {key}=...,...")
        try:
            grid[key] = list(parse_yaml(f"[{values}]"))
        except ValueError:
            raise SpecError(f"--grid {key}: cannot read the values '{values}'.") from None
        if any(value in grid[key][:place] for place, value in enumerate(grid[key])):
            raise SpecError(f"--grid {key}: a value comes twice in '{values}'.")
    return grid


def points(grid: Grid) -> list[Point]:
    """Every combination of values, the first setting varying slowest; without a grid the recipe as it is.

    >>> points({"a": [1, 2], "b": ["x"]})
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'x'}]
    """
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """Each setting's last word, or more of them where two would be the same.

    >>> short_names(["train.objective.beta", "train.steps"])
    {'train.objective.beta': 'beta', 'train.steps': 'steps'}
    >>> short_names(["model.style", "data.style"])
    {'model.style': 'model.style', 'data.style': 'data.style'}
    """
    found = {}
    for key in keys:
        parts = key.split(".")
        endings = (".".join(parts[start:]) for start in range(len(parts) - 1, -1, -1))
        found[key] = next(end for end in endings if sum(k == end or k.endswith(f".{end}") for k in keys) == 1)
    return found


def point_text(point: Mapping[str, Any]) -> str:
    """A point in words; that of no grid is the spec itself."""
    names = short_names(list(point))
    return ", ".join(f"{names[key]} = {value}" for key, value in point.items()) or "the spec"
