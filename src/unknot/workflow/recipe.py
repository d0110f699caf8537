"""Recipe: data, labels, model and training in one description; what a spec file and a run folder hold.

A spec file is YAML with these sections; ``data`` may also come on the command line, and what is left out has
defaults::

    data:   {name: mnist}                       # a known data set, or file: mine.npz / table.csv / a folder of images
    labels: {budget: {digit: 100}, seed: 0}     # how many labels may be used; left out: all there are
    model:  {nodes: {...}}                      # or program: mine.py:MyModel, or kind: images; left out: the default
    train:  {steps: 2000, objective: {name: semi_supervised, alpha: 20}}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unknot.data import load
from unknot.data.dataset import Dataset
from unknot.data.label_budget import LabelBudget
from unknot.data.label_rule import per
from unknot.data.readers.picture_size import ORIGINAL
from unknot.data.readers.user_files import read_user_data
from unknot.errors import SpecError, UnknotError
from unknot.models.spec import ModelSpec, read_spec
from unknot.schema import shown
from unknot.suggest import did_you_mean
from unknot.workflow.labels import label_kinds, with_described_classes
from unknot.workflow.nested import with_paths
from unknot.workflow.schema import DESCRIBED_KINDS, SECTIONS, OwnData, check_section, kind_of, without_kind
from unknot.yaml_file import read_yaml

_SHORT_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+")


@dataclass(frozen=True)
class Recipe:
    """The four sections of a spec, as plain data that was checked (:mod:`unknot.workflow.schema`)."""

    data: Mapping[str, Any]
    labels: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    train: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], where: str = "the spec") -> Recipe:
        """From a spec's content; unknown sections are refused by name."""
        for key in given:
            if key not in SECTIONS:
                raise SpecError(f"{where}: unknown section '{key}'; {did_you_mean(key, SECTIONS)}")
        parts = {key: _plain(value or {}) for key, value in given.items()}
        for key, value in parts.items():
            if not isinstance(value, Mapping):
                raise SpecError(
                    f"{where}: section '{key}' must be a table of settings, but is {shown(value)}."
                )
            check_section(key, value)
        return cls(**{"data": {}, **parts})

    @classmethod
    def read(cls, path: str | Path) -> Recipe:
        """From a YAML file."""
        path = Path(path)
        content = read_yaml(path, "spec", ", ".join(SECTIONS), empty=True)
        recipe = cls.from_dict(content, str(path))
        data = dict(recipe.data)  # a path in a spec is meant from where the spec lies
        if "file" in data:
            data["file"] = str(path.parent / str(data["file"]))
        return replace(recipe, data=data, model=with_paths(recipe.model, lambda one: path.parent / one))

    def with_settings(self, settings: Mapping[str, Any]) -> Recipe:
        """The recipe with some values replaced: ``{"train.steps": 100, "labels.budget.digit": 50}``."""
        content = {key: _plain(getattr(self, key)) for key in SECTIONS}
        for dotted, value in settings.items():
            *path, last = dotted.split(".")
            if not path:
                raise SpecError(f"--set {dotted}: say the section too, as in train.{dotted}=...")
            place = content
            for part in path:
                if not isinstance(place.setdefault(part, {}), dict):
                    place[part] = {}
                place = place[part]
            place[last] = value
        return Recipe.from_dict(content)

    def with_file(self, path: str | Path) -> Recipe:
        """The recipe for a user's own file, instead of the data it names."""
        options = {one.name for one in fields(OwnData)}
        rest = {key: value for key, value in self.data.items() if key in options}
        return replace(self, data={**rest, "file": str(path)})

    def to_dict(self) -> dict[str, Any]:
        return {key: _plain(getattr(self, key)) for key in SECTIONS}

    # ---- from the description to the things ---------------------------------------------------------

    def dataset(self, data_dir: str | Path | None = None) -> Dataset:
        """All the data, every label visible: only :meth:`budget` may hand it to training."""
        settings = dict(self.data)
        if "file" in settings:
            check_section("data", settings)
            spec = self.spec
            of_nodes = {} if spec is None else label_kinds(spec.labeled)
            declared = dict(settings.get("kinds") or {})
            settings["kinds"] = of_nodes | declared
            if kind_of(self.model) in DESCRIBED_KINDS and settings.get("size") is None:
                settings["size"] = ORIGINAL  # a described model is trained on pictures as they are
            data = read_user_data(settings.pop("file"), **settings)
            for name in declared.keys() - data.factors.keys():
                there = ", ".join(data.factors) or "none"
                raise SpecError(f"data.kinds speaks of '{name}', but the labels are {there}.")
            return data if spec is None else with_described_classes(data, spec.labeled)
        if "name" not in settings:
            raise SpecError("data: say which, name: mnist (see `unknot data list`) or file: mine.npz.")
        name = settings.pop("name")
        try:
            return load(name, data_dir=data_dir, **settings)
        except UnknotError:
            raise
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise SpecError(f"data: {name} cannot be had with these options: {error}.") from error

    def training_data(self, data: Dataset) -> Dataset:
        """The items to train on: the standard training split, or all."""
        return data.split("train") if "train" in data.splits else data

    def test_data(self, data: Dataset) -> Dataset | None:
        """The items to test on, if the data has such."""
        return data.split("test") if "test" in data.splits else None

    def budget(self, train: Dataset) -> LabelBudget:
        """Which labels may be seen: those the recipe asks for, or all of every factor the model labels."""
        rules = self.label_rules
        if not rules:
            spec = self.spec
            names = list(train.factors) if spec is None else [n.name for n in spec.labeled]
            rules = {name: "all" for name in names if name in train.factors}
        seed = self.labels.get("seed", 0)
        return LabelBudget.draw(train, seed, **{name: _rule(rule) for name, rule in rules.items()})

    def absolute(self) -> Recipe:
        """The recipe with whole paths of its files, so that a run can be used from any folder."""
        data = dict(self.data)
        if "file" in data:
            data["file"] = str(Path(str(data["file"])).absolute())
        return replace(self, data=data, model=with_paths(self.model, lambda one: Path(one).absolute()))

    @property
    def label_rules(self) -> dict[str, Any]:
        """How many labels of each factor may be used, for the factors that the recipe names."""
        return dict(self.labels.get("budget") or {})

    @cached_property
    def spec(self) -> ModelSpec | None:
        """The model, if the recipe describes its nodes."""
        return read_spec(without_kind(self.model)) if kind_of(self.model) == "nodes" else None


def _rule(rule: Any) -> Any:
    """A YAML rule: a number, "all", or {per: identity, number: 6}."""
    if isinstance(rule, Mapping):
        return per(rule["per"], rule["number"])
    return rule


def _plain(value: Any) -> Any:
    """Dictionaries, lists, words and numbers; YAML reads 1e-3 as a word; it is meant as a number."""
    if isinstance(value, str) and _SHORT_NUMBER.fullmatch(value):
        return float(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value
