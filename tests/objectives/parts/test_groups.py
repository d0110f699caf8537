"""The tree of groups: its normal form, what it refuses, and the names of its terms."""

import pytest
import torch

from unknot.errors import SpecError
from unknot.objectives.marginal.marginal_tree import Marginal
from unknot.objectives.parts.groups import as_groups, correlations, fold_within, is_flat, leaves, marginal


def leaf(log_q: float, *dimensions: float) -> Marginal:
    return Marginal(torch.tensor([log_q]), dimensions=torch.tensor([dimensions]))


Q = Marginal(
    torch.tensor([-1.0]),
    {
        "content": Marginal(torch.tensor([-2.0]), {"y": leaf(-2.0, -2.0)}),
        "style": Marginal(torch.tensor([-5.0]), {"z": leaf(-3.0, -1.0, -4.0), "w": leaf(-4.0, -2.0, -1.5)}),
    },
)
P = Marginal(
    torch.tensor([-20.0]),
    {
        "content": Marginal(torch.tensor([-8.0]), {"y": leaf(-8.0, -8.0)}),
        "style": Marginal(torch.tensor([-12.0]), {"z": leaf(-6.0, -3.0, -3.0), "w": leaf(-6.0, -2.0, -4.0)}),
    },
)


def test_by_default_each_variable_is_a_group():
    assert as_groups(None, ["y", "z"]) == ["y", "z"]


def test_one_name_stands_for_a_group_of_one():
    assert as_groups({"content": "label", "style": ["z"]}, ["label", "z"]) == {
        "content": ["label"],
        "style": ["z"],
    }


@pytest.mark.parametrize("groups", [{"style": [1]}, {"style": 3}])
def test_what_is_not_a_tree_of_names_is_refused(groups):
    with pytest.raises(SpecError, match="names of variables"):
        as_groups(groups, ["z"])


def test_a_trace_without_variables_is_refused():
    with pytest.raises(SpecError, match="no random variables"):
        as_groups(None, [])


@pytest.mark.parametrize(
    ("groups", "flat"),
    [
        (["y", "z"], True),
        ({"a": ["y"], "b": ["z"]}, True),
        ({"a": {"b": ["y"]}, "c": ["z"]}, True),
        ({"a": ["y"], "b": ["z", "w"]}, False),
        ({"a": {"b": ["y"], "c": ["z"]}}, False),
    ],
)
def test_flat_trees_are_those_whose_groups_have_one_member(groups, flat):
    assert is_flat(groups) is flat


def test_every_inner_node_has_its_correlation_beyond_the_priors():
    named = {name: value.item() for name, value in correlations(Q, P).items()}
    assert named == {
        "between": (-20 + 8 + 12) - (-1 + 2 + 5),
        "between[style]": (-12 + 6 + 6) - (-5 + 3 + 4),
        "within[z]": (-6 + 6) - (-3 + 5),
        "within[w]": (-6 + 6) - (-4 + 3.5),
    }


def test_within_is_the_sum_of_all_below_the_root():
    folded = fold_within(correlations(Q, P))
    assert folded["within"].item() == -2 - 2 + 0.5


def test_correlations_and_marginals_add_up_to_the_divergence():
    total = sum(correlations(Q, P).values()) + marginal(Q, P)
    assert total.item() == (P.log_q - Q.log_q).item()


def test_nested_groups_are_named_by_their_path():
    inner = {"shape": Marginal(torch.tensor([0.0]), {"z": leaf(0, 0, 0), "w": leaf(0, 0)})}
    outer = Marginal(torch.tensor([0.0]), {"style": Marginal(torch.tensor([0.0]), inner), "y": leaf(0, 0)})
    assert list(correlations(outer, outer)) == ["between", "between[style.shape]", "within[z]"]


def test_leaves_are_the_variables():
    assert list(leaves(Q)) == ["y", "z", "w"]
