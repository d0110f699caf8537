"""Groups without their dimensions are those of the tree."""

from __future__ import annotations

import pytest
import torch

import unknot
from unknot.objectives.marginal.inference_marginal import InferenceMarginal

B, D = 7, 3


def trace(labels: torch.Tensor | None) -> unknot.Trace:
    torch.manual_seed(0)
    q = unknot.Trace(samples=2)
    known = None if labels is None else unknot.partial(labels)
    q.concrete(torch.randn(B, 4), 0.66, value=known, name="y")
    q.normal(torch.randn(B, D), 0.5, name="z", event_dims=1)
    q.normal(torch.randn(B, 1), 0.5, name="w", event_dims=1)
    q.beta(1 + torch.rand(B), 2.0, name="v", event_dims=0)
    return q


@pytest.mark.parametrize("labels", [None, torch.tensor([0, -1, 3, -1, 1, 2, -1])])
def test_they_are_those_of_the_tree(labels: torch.Tensor | None) -> None:
    q = trace(labels)
    marginals = InferenceMarginal(100, parents={name: [] for name in q})
    groups = {"first": ["y", "w"], "second": ["z"], "third": ["v"]}
    found = marginals.group_logs(q, groups)
    assert found is not None
    tree = marginals.tree(q, groups)
    for one, wanted in zip(found, [*(part.log_q for part in tree.parts.values()), tree.log_q], strict=True):
        torch.testing.assert_close(one, wanted, rtol=1e-4, atol=1e-4)


def test_where_variables_depend_on_each_other_there_is_no_such_sum() -> None:
    assert (
        InferenceMarginal(100, parents={"z": ["y"]}).group_logs(trace(None), {"a": ["y"], "b": ["z"]}) is None
    )
