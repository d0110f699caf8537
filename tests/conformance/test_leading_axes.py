"""Sites with different leading axes, (K, 1, B), (S, B) and (B,), in one estimate of q(z): against plain loops.

All sizes are drawn from 1, 2 and 3, so that axes that must not be confused have the same size.
"""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import unknot
from tests.conformance.loops import KINDS, TREES, Loops, Problem, by_name, double, same, weighted
from unknot.objectives import decompose, elbo, information, semi_supervised


@pytest.mark.parametrize("dependent", [False, True], ids=["", "z and w depend on y"])
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_term_is_that_of_the_loops_at_every_combination_of_sizes(
    kind: str, tree: str, dependent: bool
) -> None:
    for items, classes, samples in itertools.product((1, 2, 3), repeat=3):
        problem = Problem(kind, items, classes, samples, 1 + (items + classes) % 3, dependent)
        loops = Loops(problem, problem.start)
        wanted = loops.terms(TREES[tree])
        with torch.no_grad():
            q, p = problem.traces(problem.start)
            options = problem.options(problem.start, TREES[tree])
            terms = decompose(q, p, **options)
            for name, value in by_name(terms).items():
                same(value, wanted[name])
            torch.testing.assert_close(terms.per_item, elbo(q, p).per_item, rtol=1e-9, atol=1e-9)
            same(semi_supervised(q, p, between=3.0, **options)["between"], wanted["between"])
            for pair in (["y", "z"], ["z", "w"]) if tree == "three groups" else ():
                found = semi_supervised(q, p, between={", ".join(pair): 3.0}, **options)
                alone = loops.terms({name: [name] for name in pair})["between"]
                same(found[f"between[{', '.join(pair)}]"], alone)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(KINDS),
    tree=st.sampled_from(list(TREES)),
    items=st.integers(1, 3),
    classes=st.integers(1, 3),
    samples=st.sampled_from([None, 1, 2, 3]),
    dimensions=st.integers(1, 3),
    dependent=st.booleans(),
)
def test_the_gradient_is_that_of_the_loops(
    kind: str, tree: str, items: int, classes: int, samples: int | None, dimensions: int, dependent: bool
) -> None:
    problem = Problem(kind, items, classes, samples, dimensions, dependent)
    wanted = Loops(problem, problem.start).gradient(TREES[tree])
    parameters = {name: tensor.clone().requires_grad_() for name, tensor in problem.start.items()}
    q, p = problem.traces(parameters)
    options = problem.options(parameters, TREES[tree])
    terms = by_name(decompose(q, p, **options))
    # the term between the groups from the other objective, which has an estimate of its own for it
    terms["between"] = semi_supervised(q, p, between=3.0, **options)["between"]
    weighted(terms).backward()
    for name, tensor in parameters.items():
        gradient = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
        torch.testing.assert_close(gradient, wanted[name], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("samples", [None, 1, 2, 3])
@pytest.mark.parametrize("far", [False, True])
def test_a_data_set_of_two_items_worked_out_by_hand(samples: int | None, far: bool) -> None:
    """q(y | x) is (3/4, 1/4) and (1/4, 3/4).

    If q(z | x) is the same for both items, y and z are independent and the term is zero. If the two are far apart,
    z tells the item, q(z) = q(z | x_b) / 2 and q(y) = 1/2, so that the term is -log 2 + H(3/4, 1/4).
    """
    masses = torch.tensor([[0.75, 0.25], [0.25, 0.75]], dtype=double)
    loc = torch.tensor([[0.0, 0.0], [100.0, 0.0]] if far else [[1.0, 2.0], [1.0, 2.0]], dtype=double)
    q, p = unknot.Trace(samples=samples), unknot.Trace()
    q.one_hot_categorical(logits=masses.log(), name="y", gradient="enumerate")
    q.normal(loc, 1.0, name="z", event_dims=1)
    p.one_hot_categorical(logits=torch.zeros(2, dtype=double), value=q["y"], name="y")
    p.normal(torch.zeros((), dtype=double), 1.0, value=q["z"], name="z")
    entropy = -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    wanted = [entropy - math.log(2.0) if far else 0.0] * 2
    options = {"dataset_size": 2, "estimator": "exact", "parents": {"z": []}}
    same(decompose(q, p, **options)["between"], wanted)
    same(semi_supervised(q, p, between=4.0, **options)["between"], wanted)


@pytest.mark.parametrize("samples", [None, 2, 3])
@pytest.mark.parametrize("estimator", ["stratified", "naive"])
@pytest.mark.parametrize("shape", [(2,), (1, 2)], ids=["no batch axis", "a batch axis of one"])
def test_a_draw_that_all_items_share_counts_for_each_of_them(
    samples: int | None, estimator: str, shape: tuple[int, ...]
) -> None:
    """It knows nothing of x, so that no term of its own is more than its distance from the prior."""
    q, p = unknot.Trace(samples=samples), unknot.Trace()
    q.normal(torch.zeros(*shape, dtype=double), 1.0, name="shared", event_dims=1)
    q.normal(torch.randn(3, 2, dtype=double), 0.5, name="z", event_dims=1)
    for name in ("shared", "z"):
        p.normal(torch.zeros((), dtype=double), 1.0, value=q[name], name=name)
    p.normal(torch.zeros((), dtype=double), 1.0, value=torch.zeros(3, dtype=double), name="x")
    options = {"dataset_size": 10, "estimator": estimator, "parents": {"z": []}}
    terms = decompose(q, p, **options)
    torch.testing.assert_close(terms.per_item, elbo(q, p).per_item)
    same(terms["between"], [0.0] * 3)
    same(semi_supervised(q, p, between=2.0, **options)["between"], [0.0] * 3)
    found = information(q, **options)
    assert abs(found.variables["shared"]) < 1e-12
    torch.testing.assert_close(found.dimensions["shared"], torch.zeros(2, dtype=double))
