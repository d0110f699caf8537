"""Member: one training of a sweep, a point of its grid with a seed, and the run folder that belongs to it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unknot.data.dataset import Dataset
from unknot.errors import SpecError
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import prepare
from unknot.workflow.sweep.grid import Point, point_text, points, short_names

_LONGEST = 60  # characters of a folder's readable part


@dataclass(frozen=True)
class Member:
    """``recipe`` is complete, seed and all; ``key`` changes with whatever decides the result, data included."""

    recipe: Recipe
    point: Mapping[str, Any]
    seed: int
    key: str

    @property
    def title(self) -> str:
        return f"{point_text(self.point)}, seed {self.seed}"

    @property
    def folder(self) -> str:
        """The name of its run folder: readable, and never that of a run with other settings or data."""
        names = short_names(list(self.point))
        words = "-".join(f"{names[key]}={value}" for key, value in self.point.items())
        readable = re.sub(r"[^A-Za-z0-9=.]+", "-", words).strip("-")[:_LONGEST]
        return "-".join(part for part in (readable, f"seed={self.seed}", self.key[:8]) if part)


def members(
    recipe: Recipe, grid: Mapping[str, Sequence[Any]], seeds: int, data_dir: str | Path | None = None
) -> list[Member]:
    """Every point with every seed, all points of one seed first, after a look at whatever can be wrong with them.

    Seeds count on from the recipe's own; they decide first weights, batches and draws, and not which labels are seen.
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
    """Changes with the items, their labels and their splits."""
    digest = hashlib.sha256(data.fingerprint().encode())
    for name, factor in sorted(data.factors.items()):
        digest.update(f"{name} {factor.kind} {factor.classes}".encode())
        digest.update(factor.values.cpu().numpy().tobytes())
    for name, rows in sorted(data.splits.items()):
        digest.update(name.encode() + rows.cpu().numpy().tobytes())
    return digest.hexdigest()


def _member(point: Point, recipe: Recipe, digest: str, seed: int) -> Member:
    complete = recipe.with_settings({"train.seed": seed, "train.progress": False})
    said = complete.to_dict()
    said["data"].pop("file", None)  # where a file lies does not matter, what it holds does
    if "program" in said["model"]:
        path = Path(said["model"]["program"].rpartition(":")[0])
        said["model"]["program"] = [said["model"]["program"].rpartition(":")[2], path.read_text()]
    text = json.dumps({"recipe": said, "data": digest}, sort_keys=True, default=str)
    return Member(complete, point, seed, hashlib.sha256(text.encode()).hexdigest()[:16])


def _first_seed(recipe: Recipe) -> int:
    return int(recipe.train.get("seed") or 0)
