"""Members of a sweep: each a point of the grid of settings with a seed, trained in a run folder of its own."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.suggest import did_you_mean
from unknot.workflow.recipe import SECTIONS, Recipe
from unknot.workflow.run import prepare
from unknot.yaml_file import parse_yaml

Grid = Mapping[str, Sequence[Any]]
Point = dict[str, Any]


def read_grid(words: Sequence[str]) -> dict[str, list[Any]]:
    """Read values by setting from words such as ``train.objective.beta=1,4,12``; values are read as YAML.

    >>> read_grid(["train.steps=100,200", "train.betas=[0.9, 0.99],[0.9, 0.999]"])
    {'train.steps': [100, 200], 'train.betas': [[0.9, 0.99], [0.9, 0.999]]}
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
    """Return every combination of values, the first setting varying slowest; one empty point for an empty grid.

    >>> points({"a": [1, 2], "b": ["x"]})
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'x'}]
    """
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """Return the last word of each setting, or more words where two would be the same.

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
    """Format a point; the empty one is the spec itself."""
    names = short_names(list(point))
    return ", ".join(f"{names[key]} = {value}" for key, value in point.items()) or "the spec"


_LONGEST = 60  # characters of a folder's readable part


@dataclass(frozen=True)
class Member:
    """One training of a sweep.

    Attributes
    ----------
    recipe : Recipe
        The recipe with the settings of the point and the seed.
    point : mapping
        The settings that vary.
    seed : int
        The seed of the training.
    key : str
        A digest of everything that decides the result, the data included.
    """

    recipe: Recipe
    point: Mapping[str, Any]
    seed: int
    key: str

    @property
    def title(self) -> str:
        return f"{point_text(self.point)}, seed {self.seed}"

    @property
    def folder(self) -> str:
        """The name of its run folder, which no run with other settings or data has."""
        names = short_names(list(self.point))
        words = "-".join(f"{names[key]}={value}" for key, value in self.point.items())
        readable = re.sub(r"[^A-Za-z0-9=.]+", "-", words).strip("-")[:_LONGEST]
        return "-".join(part for part in (readable, f"seed={self.seed}", self.key[:8]) if part)


def members(
    recipe: Recipe, grid: Mapping[str, Sequence[Any]], seeds: int, data_dir: str | Path | None = None
) -> list[Member]:
    """Return every point with every seed, all points of one seed first, after a check of each point.

    Parameters
    ----------
    recipe : Recipe
        The recipe.
    grid : mapping from setting to values
        The settings that vary.
    seeds : int
        The number of seeds, from that of the recipe on. They decide first weights, batches and draws, and not which
        labels are used.
    data_dir : str or Path, optional
        Where known data sets lie.

    Returns
    -------
    list of Member
    """
    recipe, first = recipe.absolute(), _first_seed(recipe)
    loaded: dict[str, Dataset] = {}
    digests: dict[str, str] = {}
    found: list[tuple[Point, Recipe, str]] = []
    for point in points(grid):
        one = recipe.with_settings(point)
        named = json.dumps(one.to_dict()["data"], sort_keys=True)
        if named not in digests:
            loaded = {named: one.dataset(data_dir)}  # one at a time: data may be large
            digests[named] = data_digest(loaded[named])
        if named not in loaded:
            loaded = {named: one.dataset(data_dir)}
        try:
            prepare(one.with_settings({"train.seed": first}), loaded[named])
        except SpecError as error:
            raise SpecError(f"{point_text(point)}: {error}") from error
        found.append((point, one, digests[named]))
    return [
        _member(point, one, digest, seed)
        for seed in range(first, first + seeds)
        for point, one, digest in found
    ]


def data_digest(data: Dataset) -> str:
    """Return a digest of the items, their labels and their splits."""
    digest = hashlib.sha256(data.fingerprint().encode())
    for name, factor in sorted(data.factors.items()):
        digest.update(f"{name} {factor.kind} {factor.classes}".encode())
        digest.update(factor.values.cpu().numpy().tobytes())
    for name, rows in sorted(data.splits.items()):
        digest.update(name.encode() + rows.cpu().numpy().tobytes())
    return digest.hexdigest()


def _member(point: Point, recipe: Recipe, digest: str, seed: int) -> Member:
    complete = recipe.with_settings({"train.seed": seed, "train.progress": False})
    described = complete.to_dict()
    described["data"].pop("file", None)  # its content decides, not its place
    if "program" in described["model"]:
        path = Path(described["model"]["program"].rpartition(":")[0])
        described["model"]["program"] = [described["model"]["program"].rpartition(":")[2], path.read_text()]
    text = json.dumps({"recipe": described, "data": digest}, sort_keys=True, default=str)
    return Member(complete, point, seed, hashlib.sha256(text.encode()).hexdigest()[:16])


def _first_seed(recipe: Recipe) -> int:
    return int(recipe.train.get("seed") or 0)
