"""Which pictures a report shows of a model."""

from __future__ import annotations

import numpy as np
import torch

from tests.workflow.models import like
from unknot.data.from_arrays import from_arrays
from unknot.models import node
from unknot.report.gallery import gallery

DATA = from_arrays(
    np.random.default_rng(0).integers(0, 255, (12, 6, 6)).astype(np.uint8),
    {"digit": np.arange(12) % 3, "light": np.eye(3)[np.arange(12) % 3]},
)
DIMENSIONS = [("style[1]", 0.5), ("style[0]", 0.0)]


def test_every_factor_and_every_used_dimension_is_shown() -> None:
    torch.manual_seed(0)
    nodes = [
        node("digit", "concrete", 3, inferred_from=["x"], labels=True),
        node("light", "direction", 3, inferred_from=["x"], labels=True),
        node("style", "normal", 2, inferred_from=["x", "digit"]),
        node("x", "bernoulli", parents=["digit", "light", "style"]),
    ]
    shown = {one.title: one for one in gallery(like(nodes, DATA), DATA, DIMENSIONS)}
    assert list(shown) == [
        "Reconstructions", "Analogies: digit", "Analogies: light", "Style grid 1", "Style grid 2", "Style grid 3",
        "Style grid 4", "Traversals of style", "Samples",
    ]  # fmt: skip
    assert not np.array_equal(shown["Style grid 1"].images, shown["Style grid 2"].images)  # another item
    assert shown["Analogies: digit"].columns == ("item", "0", "1", "2")
    assert shown["Analogies: light"].columns[1] == "-75°"
    assert shown["Traversals of style"].rows == ("style[1]",)  # the other one tells nothing
    assert shown["Samples"].images.shape[1] == 3


def test_of_items_without_labels_the_classes_go_by_the_models_own_names() -> None:
    nodes = [
        node("digit", "concrete", 3, inferred_from=["x"], labels=True),
        node("x", "bernoulli", parents=["digit"]),
    ]
    shown = {one.title: one for one in gallery(like(nodes, DATA), from_arrays(DATA.x), [])}
    assert shown["Analogies: digit"].columns == ("item", "0", "1", "2")


def test_without_factors_there_are_samples_from_the_prior() -> None:
    nodes = [node("style", "normal", 2, inferred_from=["x"]), node("x", "bernoulli", parents=["style"])]
    bare = from_arrays(DATA.x)
    titles = [one.title for one in gallery(like(nodes, bare), bare, DIMENSIONS)]
    grids = [f"Style grid {i}" for i in range(1, 5)]
    assert titles == ["Reconstructions", *grids, "Traversals of style", "Samples"]
