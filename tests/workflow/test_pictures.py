"""Pictures of a model as arrays: what is kept and what changes in each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tests.workflow.models import untrained
from unknot.data.factor import Factor
from unknot.models import node
from unknot.workflow import pictures
from unknot.workflow.trained_model import TrainedModel

NODES = [
    node("digit", "concrete", 4, inferred_from=["x"], labels=True),
    node(
        "style",
        "normal",
        3,
        inferred_from=["x", "digit"],
        prior={"center": [1.0, 0.0, 0.0], "spread": [2.0, 1.0, 1.0]},
    ),
    node("x", "bernoulli", parents=["digit", "style"]),
]


@pytest.fixture
def model() -> TrainedModel:
    return untrained(NODES, (1, 8, 8))


@pytest.fixture
def x() -> torch.Tensor:
    return torch.rand(5, 1, 8, 8)


def test_reconstructions_stand_below_their_items(model: TrainedModel, x: torch.Tensor) -> None:
    shown = pictures.reconstructions(model, x)
    assert shown.shape == (2, 5, 1, 8, 8)
    torch.testing.assert_close(torch.from_numpy(shown[0]), x)
    made = model.generate(5, model.predict(x).values)
    torch.testing.assert_close(torch.from_numpy(shown[1]), made)


def test_an_analogy_to_the_items_own_class_is_its_reconstruction(
    model: TrainedModel, x: torch.Tensor
) -> None:
    shown = pictures.analogies(model, x, "digit", torch.arange(4))
    assert shown.shape == (5, 5, 1, 8, 8)
    own = model.predict(x).predictions["digit"].argmax(-1)
    made = pictures.reconstructions(model, x)[1]
    for i, digit in enumerate(own.tolist()):
        assert abs(shown[i, 1 + digit] - made[i]).max() < 1e-6


def test_sweeps_cover_the_prior(model: TrainedModel, x: torch.Tensor) -> None:
    rows = pictures.traversals(model, x, model.node("style"), [0, 2], steps=5)
    assert rows.shape == (2, 5, 1, 8, 8)
    values = model.predict(x[:1]).values
    code = values["style"].clone()
    code[0, 0] = 1.0 - 2 * 2.0  # two standard deviations below the center
    made = model.generate(1, {**values, "style": code})
    assert abs(rows[0, 0] - made[0].numpy()).max() < 1e-6
    grid = pictures.style_grid(model, x, model.node("style"), (0, 2), steps=5)
    assert grid.shape == (5, 5, 1, 8, 8)


def test_samples_are_repeatable_and_leave_torch_alone(model: TrainedModel) -> None:
    state = torch.get_rng_state()
    one = pictures.samples(model, 2, 3)
    assert one.shape == (2, 3, 1, 8, 8)
    assert (one == pictures.samples(model, 2, 3)).all()
    assert torch.equal(state, torch.get_rng_state())
    by_class = pictures.samples_by_class(model, model.node("digit"), 2)
    assert by_class.shape == (2, 4, 1, 8, 8)


def test_a_class_grid_has_the_quantiles_of_the_prior(model: TrainedModel) -> None:
    grid = pictures.class_grid(model, model.node("digit"), 2, model.node("style"), (0, 1), steps=3)
    assert grid.shape == (3, 3, 1, 8, 8)
    middle = {"digit": torch.tensor([2]), "style": torch.tensor([[1.0, 0.0, 0.0]])}
    made = model.generate(1, middle)
    assert abs(grid[1, 1] - made[0].numpy()).max() < 1e-6
    below = {"digit": torch.tensor([2]), "style": torch.tensor([[1.0 - 2 * 1.6449, 0.0, 0.0]])}
    made = model.generate(1, below)
    assert abs(grid[0, 1] - made[0].numpy()).max() < 1e-5  # the first row is at the 5 % quantile


def test_one_item_of_each_class_comes_first() -> None:
    classes = torch.tensor([1, 1, -1, 0, 2, 0])
    assert pictures.one_of_each(classes, 3) == [3, 0, 4]
    assert pictures.one_of_each(classes, 5) == [3, 0, 4, 1, 2]


def test_parts_are_what_the_program_says(model: TrainedModel, x: torch.Tensor) -> None:
    assert pictures.parts(model, x) is None
    model.module.parts = lambda q: torch.stack([q["style"].value, -q["style"].value], 1)
    found = pictures.parts(model, x)
    assert found is not None
    assert found.shape == (2, 5, 3)
    assert (found[0] == -found[1]).all()


def test_boxes_are_what_the_program_says_in_the_words_of_the_data(
    model: TrainedModel, x: torch.Tensor
) -> None:
    assert pictures.boxes(model, x) is None
    model.module.boxes = lambda q: (torch.zeros(5, 1, 3), ["digit"])
    found = pictures.boxes(model, x)
    assert found is not None
    places, words = found
    assert places.shape == (5, 1, 3)
    best = model.predict(x).predictions["digit"].argmax(-1).tolist()
    assert words == [[str(i)] for i in best]  # the data has no words for them
    factor = Factor("digit", "categorical", torch.zeros(0, dtype=torch.long), tuple("abcd"))
    named = replace(model, data=replace(model.data, factors={"digit": factor}))
    assert pictures.boxes(named, x)[1] == [["abcd"[i]] for i in best]
