"""Recipes: what a spec file may say, and the defaults for what it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unknot.errors import SpecError
from unknot.workflow.assembly import assemble, train_config
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import prepare


def recipe(**sections: Any) -> Recipe:
    return Recipe.from_dict({"data": {"name": "digits"}, **sections})


def shown(made: Recipe) -> Any:
    train = made.training_data(made.dataset())
    return made.budget(train).apply(train)


def test_what_is_not_said_has_defaults() -> None:
    made = recipe()
    data = shown(made)
    put_together = assemble(data, made.model, made.train)
    config = put_together.config
    assert (config.steps, config.batch_size) == (1000, 256)
    assert config.objective["name"] == "semi_supervised"
    assert config.objective["alpha"] == 20.0
    assert config.labeled_share is None  # every item is labeled
    assert bool(data.factors["digit"].known.all())
    assert [n.name for n in put_together.model.nodes] == ["digit", "style", "x"]


def test_scarce_labels_come_oftener() -> None:
    made = recipe(labels={"budget": {"digit": 50}})
    assert train_config(shown(made), made.train).labeled_share == pytest.approx(1 / 3)
    fixed = recipe(labels={"budget": {"digit": 50}}, train={"labeled_share": 0.1})
    assert train_config(shown(fixed), fixed.train).labeled_share == 0.1


def test_epochs_instead_of_steps() -> None:
    made = recipe(train={"epochs": 3})
    config = train_config(shown(made), made.train)
    assert (config.steps, config.epochs) == (None, 3)


def test_rules_of_labels() -> None:
    per_class = recipe(labels={"budget": {"digit": {"per": "digit", "number": 2}}, "seed": 3})
    data = shown(per_class)
    assert np.bincount(data.factors["digit"].values[data.factors["digit"].known]).tolist() == [2] * 10
    with pytest.raises(SpecError, match=r"labels.budget.digit: unknown key 'each'"):
        shown(recipe(labels={"budget": {"digit": {"each": 2}}}))


def test_settings_replace_and_add() -> None:
    made = recipe(train={"steps": 5}).with_settings(
        {"train.steps": 7, "train.objective.name": "elbo", "labels.budget.digit": 10}
    )
    assert made.train == {"steps": 7, "objective": {"name": "elbo"}}
    assert made.labels == {"budget": {"digit": 10}}
    with pytest.raises(SpecError, match="say the section too, as in train"):
        made.with_settings({"steps": 3})
    with pytest.raises(SpecError, match="unknown section 'trian'; did you mean 'train'"):
        made.with_settings({"trian.steps": 3})


def test_short_numbers_are_numbers() -> None:
    made = recipe(train={"learning_rate": {"name": "cosine", "start": "1e-3"}, "clip_norm": "1.5E+2"})
    assert made.train == {"learning_rate": {"name": "cosine", "start": 0.001}, "clip_norm": 150.0}
    assert recipe().with_settings({"train.learning_rate": "2e-4"}).train["learning_rate"] == 2e-4


def test_plain_data_and_back(tmp_path: Path) -> None:
    import yaml

    made = recipe(labels={"budget": {"digit": 10}}, model={"style": 2}, train={"steps": 3})
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump(made.to_dict()))
    assert Recipe.read(path) == made


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- a\n- b\n", "expected sections data, labels, model, train"),
        ("train: 5\n", "section 'train' must be a table of settings"),
        ("data: {name: digits, size: 3}\n", "has no option 'size'"),
        ("data: {file: a.npz, factor: [b]}\n", "data: unknown key 'factor'; did you mean 'factors'"),
    ],
)
def test_mistakes(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(content)
    with pytest.raises(Exception, match=message):
        Recipe.read(path).dataset()
    with pytest.raises(SpecError, match="cannot read the spec"):
        Recipe.read(tmp_path / "absent.yaml")


def test_a_file_on_the_command_line_replaces_a_named_set() -> None:
    made = recipe().with_file("mine.npz")
    assert made.data == {"file": "mine.npz"}
    kept = Recipe({"file": "old.csv", "factors": ["a"], "test_share": 0.2}).with_file("new.csv")
    assert kept.data == {"file": "new.csv", "factors": ["a"], "test_share": 0.2}


def test_kinds_of_labels_that_there_are_not(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,kind\n1.5,x\n2,y\n")
    data = {"file": str(tmp_path / "t.csv"), "factors": ["kind"], "kinds": {"knid": "categorical"}}
    with pytest.raises(SpecError, match=r"data\.kinds speaks of 'knid', but the labels are kind"):
        Recipe.from_dict({"data": data}).dataset()


def test_a_described_model_says_what_its_labels_are(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((4, 3), np.float32), kind=[0.0, 1.0, np.nan, 0.0])
    nodes = {
        "kind": {"family": "concrete", "size": 2, "inferred_from": "x", "labels": True},
        "x": {"family": "normal", "parents": "kind"},
    }
    made = Recipe({"file": str(tmp_path / "a.npz")}, model={"nodes": nodes})
    assert made.dataset().factors["kind"].values.tolist() == [0, 1, -1, 0]


def test_a_factor_may_be_called_seed(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((6, 3), np.float32), seed=[0, 1, 0, 1, 0, 1])
    made = Recipe.from_dict(
        {"data": {"file": str(tmp_path / "a.npz")}, "labels": {"budget": {"seed": 2}, "seed": 5}}
    )
    budget = made.budget(made.dataset())
    assert budget.seed == 5
    assert len(budget.items["seed"]) == 2


def test_the_nodes_of_a_recipe_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from unknot.workflow import recipe as module

    nodes = {
        "digit": {"family": "concrete", "size": 10, "inferred_from": "x", "labels": True},
        "x": {"family": "bernoulli", "parents": "digit"},
    }
    calls = []
    read = module.read_spec
    monkeypatch.setattr(module, "read_spec", lambda given: calls.append(1) or read(given))
    made = recipe(model={"nodes": nodes}, train={"steps": 1})
    prepare(made, made.dataset())
    assert len(calls) == 1
