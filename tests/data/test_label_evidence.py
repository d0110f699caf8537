"""Labels that are not one value: what they say about every class, which forms are recognized, what is refused."""

import pytest
import torch

from unknot.data import Hierarchy, Votes, from_arrays
from unknot.data.label_column import read_factor
from unknot.errors import DataError, UnknotWarning

TREE = Hierarchy.from_mapping({"immune": ["T cell", "B cell"], "stroma": None})


def allowed(labels, classes=None):
    factor = read_factor("kind", labels, len(labels), classes=classes)
    potentials = [[round(float(one), 5) for one in row] for row in factor.evidence.exp()]
    return factor.classes, potentials, factor.values.tolist()


def test_every_form_of_a_label_says_which_classes_are_possible():
    labels = ["a", ["a", "b"], {"c"}, {"a": 1.0, "b": 0.5}, None, "!a", "b|c", ("a", "c"), "!b|c"]
    classes, potentials, values = allowed(labels)
    assert classes == ("a", "b", "c")
    assert potentials == [
        [1, 0, 0],
        [1, 1, 0],
        [0, 0, 1],
        [1, 0.5, 0],
        [1, 1, 1],
        [0, 1, 1],
        [0, 1, 1],
        [1, 0, 1],
        [1, 0, 0],
    ]
    assert values == [0, -1, 2, -1, -1, -1, -1, -1, 0]


def test_whole_numbers_are_classes_too():
    classes, potentials, values = allowed([3, [3, 10], -1, {10: 2, 3: 1}])
    assert classes == ("3", "10")
    assert potentials == [[1, 0], [1, 1], [1, 1], [0.5, 1]]
    assert values == [0, -1, -1, -1]


def test_nodes_of_a_tree_are_labels():
    classes, potentials, values = allowed(
        ["T cell", "immune", "immune/*", "!immune", {"immune": 3, "stroma": 1}], TREE
    )
    assert classes == TREE.leaves
    assert potentials == [[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 0.33333]]
    assert values == [0, -1, -1, 2, -1]


def test_paths_make_their_tree_where_one_continues_another():
    with pytest.warns(UnknotWarning, match="taken as nodes of a class tree"):
        factor = read_factor("kind", ["a/x", "a/y", "a/*", "b", None], 5)
    assert factor.classes == ("x", "y", "b")
    assert factor.evidence.exp().tolist()[2] == [1, 1, 0]
    assert factor.tree is not None
    assert factor.tree.at_depth(1) == ("a", "b")


def test_classes_may_contain_the_characters_of_expressions():
    factor = read_factor("kind", ["n/a", "CD4/CD8", "a|b", "!x"], 4)
    assert factor.classes == ("!x", "CD4/CD8", "a|b", "n/a")
    assert factor.evidence is None
    assert factor.tree is None


def test_labels_of_one_class_each_have_no_evidence():
    factor = read_factor("kind", ["T cell", None, "stroma"], 3, classes=TREE)
    assert factor.values.tolist() == [0, -1, 2]
    assert factor.evidence is None
    assert factor.tree is TREE


def test_hiding_selecting_and_batches_carry_the_evidence():
    data = from_arrays([[0.0], [1.0], [2.0]], {"kind": ["a", ["a", "b"], "c"]})
    factor = data.factor("kind")
    assert factor.known.tolist() == [True, False, True]
    assert factor.observed.tolist() == [True, True, True]
    hidden = factor.hide(torch.tensor([False, True, False]))
    assert hidden.observed.tolist() == [False, True, False]
    assert hidden.evidence.exp().tolist() == [[1, 1, 1], [1, 1, 0], [1, 1, 1]]
    batch = data.batch([2, 1])
    assert batch.evidence["kind"].exp().tolist() == [[0, 0, 1], [1, 1, 0]]
    (epoch,) = data.batches(3, shuffle=False)
    assert torch.equal(epoch.evidence["kind"], factor.evidence)


def test_votes_are_columns_of_classes():
    data = from_arrays(
        [[0.0], [1.0], [2.0]],
        {"kind": Votes({"Ann": ["a", "b", None], "Bob": ["a", None, None]}, labels=[None, None, "c"])},
    )
    factor = data.factor("kind")
    assert (factor.classes, factor.raters) == (("a", "b", "c"), ("Ann", "Bob"))
    assert factor.votes.tolist() == [[0, 0], [1, -1], [-1, -1]]
    assert factor.values.tolist() == [-1, -1, 2]
    assert factor.observed.tolist() == [True, True, True]
    assert factor.hide(torch.tensor([True, False, True])).observed.tolist() == [True, False, True]
    assert data.batch([1]).votes["kind"].tolist() == [[1, -1]]


def test_intervals_of_a_number():
    labels = [7.5, (3, 5), (None, 2), "3-5", "<2", ">10", None, "4", "-3--1", (6, 6)]
    factor = read_factor("age", labels, len(labels), "interval")
    inf = float("inf")
    assert factor.kind == "continuous"
    ends = [
        [7.5, 7.5],
        [3, 5],
        [-inf, 2],
        [3, 5],
        [-inf, 2],
        [10, inf],
        [-inf, inf],
        [4, 4],
        [-3, -1],
        [6, 6],
    ]
    assert factor.evidence.tolist() == ends
    assert factor.known.nonzero()[:, 0].tolist() == [0, 7, 9]
    assert factor.observed.tolist() == [end != [-inf, inf] for end in ends]
    assert read_factor("age", [1.0, None], 2, "interval").evidence is None


@pytest.mark.parametrize(
    ("labels", "options", "words"),
    [
        (["a", ["b"], []], {}, "row 2: .* allows no class"),
        (["a", {"a": -1.0}], {}, "row 1: the weight of 'a' is -1.0"),
        (["a", {"a": 0.0, "b": 0}], {}, "row 1: all weights are 0"),
        (["a", {"a": float("nan")}], {}, "row 1: the weight of 'a' is nan"),
        (["T cell", "T cel"], {"classes": TREE}, "row 1: got T cel, .*did you mean 'T cell'"),
        (["T cell", "stroma/T cell"], {"classes": TREE}, "row 1: 'stroma/T cell' is no path"),
        (["T cell", ["stroma", "x"]], {"classes": TREE}, "row 1: got x, expected one of the classes"),
        ([["a", "b"], ["a"]], {"classes": ["a"]}, "row 0: got b, expected one of the classes"),
        (["immune|stroma", "!immune|stroma"], {"classes": TREE}, "row 1: .* allows no class"),
        ([1.0, (5, 3)], {"kind": "interval"}, r"row 1: got the interval \(5, 3\), whose low end is above"),
        ([1.0, "5-3"], {"kind": "interval"}, "row 1: got the interval '5-3'"),
        ([1.0, "old"], {"kind": "interval"}, "row 1: got 'old', expected a number"),
        (Votes({}), {}, "votes need one rater"),
        (Votes({"Ann": ["a", "b"], "Bob": ["a"]}), {}, "rater 'Bob': 1 votes for 2 items"),
        (Votes({"Ann": ["c", ["a", "b"]]}), {}, "reports one class or none"),
    ],
)
def test_bad_labels_are_refused_by_row(labels, options, words):
    size = 2 if isinstance(labels, Votes) else len(labels)
    with pytest.raises(DataError, match=words):
        read_factor("kind", labels, size, **options)
