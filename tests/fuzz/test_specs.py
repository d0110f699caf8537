"""Malformed specs: thousands of wrong values under right and wrong keys, and broken YAML."""

from __future__ import annotations

import copy
import datetime
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import strategies as st

from tests.fuzz.outcomes import answered, fuzz
from unknot.models.node_spec import NODE
from unknot.models.spec import MODEL_SETTINGS
from unknot.objectives.catalogue import CATALOGUE
from unknot.schema import schema_of
from unknot.train.config import TRAIN
from unknot.workflow.assembly import assemble
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import train_recipe
from unknot.workflow.schema import MODELS, OwnData

NODES = {
    "y": {"family": "concrete", "size": 3, "inferred_from": "x", "labels": True},
    "style": {"family": "normal", "size": 2, "inferred_from": ["x", "y"]},
    "x": {"family": "normal", "parents": ["y", "style"]},
}
SECTIONS = [{}, {"width": 8, "style": 2}, {"width": 8, "nodes": NODES}]
FAMILIES = [
    "concrete",
    "categorical",
    "bernoulli",
    "relaxed_bernoulli",
    "direction",
    "normal",
    "table",
    "poisson",
    "multinomial",
]
WORDS = [
    "",
    "x",
    "y",
    "all",
    "score",
    "reparameterized",
    "enumerate",
    "cuda",
    "auto",
    "affine",
    "linear",
    "1e-3",
    "é",
    "x" * 500,
]
NUMBERS = [
    -1,
    0,
    1,
    2,
    3,
    2.5,
    -0.5,
    1e-3,
    float("nan"),
    float("inf"),
    2**31,
    2**63,
    10**30,
    10**400,
    True,
    None,
]
OTHERS: list[Any] = [
    [],
    [1],
    [0, 1, 2],
    ["x"],
    ["y", "style"],
    [[1]],
    [0.9, 0.99],
    {},
    {"a": 1},
    {"y": 2},
    {"name": "elbo"},
    {"name": "semi_supervised", "alpha": "x"},
    {"name": "hfvae", "groups": 5},
    {"name": "cosine", "start": 1e-3},
    {"per": "y", "number": 1},
    {"turn": 0.1},
    datetime.date(2020, 1, 1),
    b"bytes",
]
Path_ = tuple[str, ...]
NODE_PATHS: list[Path_] = [
    *[("model", "nodes", name, key) for name in NODES for key in NODE["properties"]],
    *[("model", "nodes", name) for name in [*NODES, "z", "a b", "type", ""]],
    *[("model", key) for key in [*MODEL_SETTINGS, "nodes"]],
]
OTHER_PATHS: list[Path_] = [
    *[("train", key) for key in TRAIN["properties"]],
    *[("train", key) for key in TRAIN["properties"]],
    *[("model", key) for key in [*MODELS["auto"]["properties"], "kind", "program"]],
    *[("data", key) for key in [*schema_of(OwnData, "")["properties"], "name"]],
    *[("labels", "budget", key) for key in ("y", "z")],
    ("labels", "budget"),
    ("labels", "seed"),
    *[(key,) for key in ("data", "labels", "model", "train", "stray")],
    ("train", "stray"),
    ("model", "x", "hidden"),
]
# Values that are right for some key: put under another, or beside others, they are wrong in deeper ways.
PLAUSIBLE: list[Any] = [1, 2, 3, 0.5, 1.0, True, False, None, *FAMILIES, "x", "y", "style", "elbo", "all"]
PLAUSIBLE += [
    ["x"],
    ["y"],
    ["x", "y"],
    [4],
    [4, 4],
    [0.5, 0.5],
    [0.5, 0.5, 0.5],
    {"name": "semi_supervised", "alpha": 2},
]
PLAUSIBLE += [{"name": name} for name in CATALOGUE]
values = st.one_of(
    st.sampled_from(PLAUSIBLE),
    st.sampled_from(PLAUSIBLE),
    st.one_of(st.sampled_from(NUMBERS), st.sampled_from(WORDS), st.sampled_from(OTHERS)),
)
cases_of_spec = st.one_of(
    st.tuples(
        st.just(SECTIONS[2]), st.lists(st.tuples(st.sampled_from(NODE_PATHS), values), min_size=1, max_size=2)
    ),
    st.tuples(
        st.sampled_from(SECTIONS),
        st.lists(st.tuples(st.sampled_from(OTHER_PATHS), values), min_size=1, max_size=2),
    ),
)


@pytest.fixture(scope="module")
def data_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fuzz") / "data.npz"
    rng = np.random.default_rng(0)
    np.savez(path, x=rng.normal(size=(40, 4)).astype(np.float32), y=np.arange(40) % 3)
    return path


def _changed(spec: dict[str, Any], wrong: list[tuple[tuple[str, ...], Any]]) -> dict[str, Any]:
    made = copy.deepcopy(spec)
    for path, value in wrong:
        place: Any = made
        for part in path[:-1]:
            if not isinstance(place.get(part), dict):
                place[part] = {}
            place = place[part]
        place[path[-1]] = copy.deepcopy(value)
    return made


def _try(spec: dict[str, Any], folder: Path) -> None:
    """As `unknot fit` does; trainings of more than a few steps are only put together."""
    recipe = Recipe.from_dict(spec)
    data = recipe.dataset()
    train = recipe.training_data(data)
    made = assemble(recipe.budget(train).apply(train), recipe.model, recipe.train)
    if (made.config.steps or 99) <= 3 or (made.config.epochs or 99) <= 1:
        shutil.rmtree(folder, ignore_errors=True)
        train_recipe(recipe, folder)


@pytest.mark.parametrize("cases", [120, pytest.param(2000, marks=pytest.mark.slow)])
def test_wrong_values(cases: int, data_file: Path, tmp_path: Path) -> None:
    def body(drawn: tuple[dict[str, Any], list[tuple[tuple[str, ...], Any]]]) -> None:
        model, wrong = drawn
        spec = {
            "data": {"file": str(data_file)},
            "labels": {"budget": {"y": 9}},
            "model": model,
            "train": {"steps": 1, "batch_size": 8, "compile": False, "progress": False},
        }
        answered(lambda: _try(_changed(spec, wrong), tmp_path / "run"))

    fuzz(cases, cases_of_spec, body)


GOOD = yaml.safe_dump(
    {"data": {"name": "digits"}, "labels": {"budget": {"digit": 10}}, "train": {"steps": 1}}
).encode()
BOMB = b"a: &a [x,x,x,x,x,x,x,x]\n" + b"".join(
    f"{b}: &{b} [*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a}]\n".encode()
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
TEXTS = [
    b"",
    b"\x00",
    b"\xff\xfe",
    BOMB,
    b"a: &a {b: *a}",
    b"[" * 1000,
    b"{" * 1000,
    b"? " * 1000,
    b"!!python/object:os.system 1",
]
texts = st.one_of(
    st.sampled_from(TEXTS),
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")),
    st.tuples(st.integers(0, len(GOOD)), st.binary(max_size=4)).map(
        lambda p: GOOD[: p[0]] + p[1] + GOOD[p[0] :]
    ),
    st.integers(0, len(GOOD)).map(lambda end: GOOD[:end]),
)


@pytest.mark.parametrize("cases", [80, pytest.param(1000, marks=pytest.mark.slow)])
def test_broken_yaml(cases: int, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"

    def body(text: bytes) -> None:
        path.write_bytes(text)
        answered(lambda: Recipe.read(path))

    fuzz(cases, texts, body)
