"""Class trees: the forms that they are read from, labels as masks, and probabilities that agree at every depth."""

import pytest
import torch

from unknot.data.hierarchy import Hierarchy
from unknot.errors import DataError

NESTED = {"immune": {"lymphoid": ["T cell", "B cell"], "myeloid": ["monocyte"]}, "stroma": None}
PAIRS = [
    ("lymphoid", "immune"),
    ("T cell", "lymphoid"),
    ("B cell", "lymphoid"),
    ("myeloid", "immune"),
    ("monocyte", "myeloid"),
    ("stroma", None),
]
PATHS = ["immune/lymphoid/T cell", "immune/lymphoid/B cell", "immune/myeloid/monocyte", "stroma", "immune/*"]
TREE = Hierarchy.from_mapping(NESTED)


def test_all_forms_make_the_same_tree(tmp_path):
    file = tmp_path / "tree.yaml"
    file.write_text("immune:\n  lymphoid: [T cell, B cell]\n  myeloid: [monocyte]\nstroma:\n")
    for form in (NESTED, PAIRS, PATHS, file, TREE):
        tree = Hierarchy.read(form)
        assert tree.leaves == ("T cell", "B cell", "monocyte", "stroma")
        assert dict(tree.parents) == dict(TREE.parents)
    assert TREE.depth == 3
    assert Hierarchy.from_mapping(TREE.to_mapping()) == TREE


def test_a_label_is_a_node_or_a_path_to_it():
    labels = ["T cell", "lymphoid/T cell", "immune/*", "immune/lymphoid", "stroma", None]
    rows = [[1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1]]
    assert TREE.mask(labels).int().tolist() == rows
    assert TREE.mask([]).shape == (0, 4)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_probabilities_agree_at_every_depth(depth):
    p = torch.rand(3, 4, generator=torch.Generator().manual_seed(0)).softmax(-1)
    sums = TREE.sums(p, depth)
    nodes = TREE.at_depth(depth)
    for j, node in enumerate(nodes):
        assert torch.allclose(sums[:, j], p[:, TREE.mask([node])[0]].sum(1))
    assert torch.allclose(sums.sum(1), torch.ones(3))
    if depth == TREE.depth:
        assert nodes == TREE.leaves


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Hierarchy.from_pairs([("a", "b"), ("b", "c"), ("c", "a")]), "a -> b -> c -> a form a cycle"),
        (lambda: Hierarchy.from_pairs([("a", "a")]), "a -> a form a cycle"),
        (lambda: Hierarchy.from_pairs([("a", "b"), ("a", "c")]), "'a' has two parents, 'b' and 'c'"),
        (lambda: Hierarchy.from_mapping({"a": ["x"], "b": ["x"]}), "'x' has two parents"),
        (lambda: Hierarchy.from_paths(["a/x", "x"]), "'x' has two parents, 'a' and none"),
        (lambda: Hierarchy({"a": "b"}), "parent 'b', which is no node"),
        (lambda: Hierarchy.from_mapping({"a": {"b": 1.5}}), "got 1.5 below 'b'"),
        (lambda: TREE.mask(["T cel"]), "'T cel' is no node of the class tree; did you mean 'T cell'"),
        (lambda: TREE.mask(["myeloid/T cell"]), "the path to 'T cell' is immune/lymphoid/T cell"),
        (lambda: TREE.at_depth(4), "depth is from 1 to 3"),
        (lambda: TREE.at_depth(0), "depth is from 1 to 3"),
    ],
)
def test_bad_trees_and_labels_are_refused_in_one_sentence(make, words):
    with pytest.raises(DataError, match=words):
        make()
