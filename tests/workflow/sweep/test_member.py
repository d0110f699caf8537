"""Members: one for each point and seed, with a key that changes with all that decides a result, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unknot.errors import SpecError
from unknot.workflow.recipe import Recipe
from unknot.workflow.sweep.member import Member, members, point_text, points, read_grid, short_names

GRID = {"train.steps": [4, 8]}


def recipe(file: Path, **train: object) -> Recipe:
    model = {"kind": "class_style", "style": 2, "width": 8}
    return Recipe.from_dict(
        {"data": {"file": str(file)}, "model": model, "train": {"batch_size": 20, **train}}
    )


def data_file(path: Path, label: int = 0) -> Path:
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    labels[0] = label
    np.savez(path, x=rng.normal(size=(40, 3)).astype(np.float32), kind=labels)
    return path


def one(file: Path, seed: int = 0, **train: object) -> Member:
    return members(recipe(file, seed=seed, **train), {}, 1)[0]


def test_every_point_with_every_seed(tmp_path: Path) -> None:
    found = members(recipe(data_file(tmp_path / "a.npz"), seed=5), GRID, 2)
    assert [member.title for member in found] == [
        "steps = 4, seed 5",
        "steps = 8, seed 5",
        "steps = 4, seed 6",
        "steps = 8, seed 6",
    ]
    assert [member.recipe.train["seed"] for member in found] == [5, 5, 6, 6]
    assert len({member.folder for member in found}) == 4
    assert found[0].folder.startswith("steps=4-seed=5-")


def test_keys_change_with_settings_seed_items_and_labels_and_not_with_the_place(tmp_path: Path) -> None:
    first = one(data_file(tmp_path / "a.npz"))
    assert one(data_file(tmp_path / "moved.npz")).key == first.key
    others = [
        one(tmp_path / "a.npz", seed=1),
        one(tmp_path / "a.npz", steps=7),
        one(data_file(tmp_path / "b.npz", label=1)),
    ]
    assert len({first.key, *(other.key for other in others)}) == 4


def test_a_wrong_point_is_named_before_anything_is_trained(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"size|style"):
        members(recipe(data_file(tmp_path / "a.npz")), {"model.style": [2, -1]}, 1)
    with pytest.raises(SpecError, match=r"name = nothing: .*objective"):
        members(recipe(tmp_path / "a.npz"), {"train.objective.name": ["elbo", "nothing"]}, 1)


# ---- Grids: values as YAML, every combination, short names, and mistakes in one sentence -----------------


def test_all_combinations_come_once_in_order() -> None:
    grid = read_grid(["train.objective.beta=1,4", "model.style=2,[3]", "train.compile=true"])
    assert [tuple(point.values()) for point in points(grid)] == [
        (1, 2, True),
        (1, [3], True),
        (4, 2, True),
        (4, [3], True),
    ]
    assert points({}) == [{}]


def test_names_are_as_short_as_they_can_be() -> None:
    keys = ["train.objective.beta", "train.steps", "model.x.size", "model.y.size"]
    assert list(short_names(keys).values()) == ["beta", "steps", "x.size", "y.size"]
    assert point_text({"train.objective.beta": 4, "train.steps": 10}) == "beta = 4, steps = 10"
    assert point_text({}) == "the spec"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("train.steps", "KEY=VALUE"),
        ("train.steps=", "KEY=VALUE"),
        ("steps=1,2", "say the section too"),
        ("trian.steps=1,2", "train"),
        ("train.seed=1,2", "--seeds"),
        ("train.steps=1,1", "a value comes twice"),
        ("train.steps=[1,2", "cannot read the values"),
    ],
)
def test_mistakes_are_refused(word: str, said: str) -> None:
    with pytest.raises(SpecError, match="--grid") as refused:
        read_grid([word])
    assert said in str(refused.value)


def test_a_setting_that_comes_twice_is_refused() -> None:
    with pytest.raises(SpecError, match="comes twice: say all its values at once"):
        read_grid(["train.steps=1", "train.steps=2"])
