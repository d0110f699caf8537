"""Random encoders with dependent sites against sums over everything: every node of every tree, every mode."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import unknot
from tests.references.structured_marginals import (
    FiniteProgram,
    log_dimension,
    log_set,
    mixture,
    random_program,
    rows,
)
from unknot.objectives.marginal.encoder_parents import Given
from unknot.objectives.marginal.inference_marginal import InferenceMarginal
from unknot.objectives.marginal.marginal_tree import Marginal, variable_names


def run(
    program: FiniteProgram, values: Mapping[str, Tensor | None], samples: int | None = None
) -> unknot.Trace:
    """The program as a Trace program: every table is read by a matrix product with the parents' one-hot values."""
    q = unknot.Trace(samples=samples)
    seen: dict[str, Tensor] = {}
    for site in program.sites:
        parameters = look_up(program, site.parents, site.table, seen)
        given = values.get(site.name)
        if site.classes:
            seen[site.name] = q.one_hot_categorical(
                logits=parameters, value=given, name=site.name, gradient=site.gradient, event_dims=1
            )
        else:
            q.normal(
                parameters[..., 0, :], parameters[..., 1, :].exp(), value=given, name=site.name, event_dims=1
            )
    return q


def look_up(
    program: FiniteProgram, parents: tuple[str, ...], table: dict, seen: Mapping[str, Tensor]
) -> Tensor:
    """Σ over the parents' values of Π y_k times the table's entry: differentiable in every y."""
    total = None
    for key, entry in table.items():
        entry = entry.clone().requires_grad_(torch.is_grad_enabled())
        weight = torch.ones((), dtype=torch.float64)
        for name, place in zip(parents, key, strict=True):
            weight = weight * seen[name][..., place]
        part = entry * weight.reshape(*weight.shape, *(1,) * (entry.ndim - 1)) if key else entry
        total = part if total is None else total + part
    assert total is not None
    return total


def random_tree(names: list[str], rng: random.Random) -> object:
    """A list, or two groups of which one may nest."""
    shuffled = rng.sample(names, len(names))
    if len(names) < 3 or rng.random() < 0.3:
        return shuffled
    cut = rng.randint(1, len(names) - 1)
    return {"a": shuffled[:cut], "b": {"c": shuffled[cut:]} if rng.random() < 0.5 else shuffled[cut:]}


def check(program: FiniteProgram, q: unknot.Trace, tree: object, found: Marginal) -> None:
    """log q^ of a node and all below it, at every row, against the sum over everything."""
    names = variable_names(tree)  # type: ignore[arg-type]
    assert_rows(program, q, names, found.log_q, lambda item, values: log_set(program, names, item, values))
    if isinstance(tree, Mapping):
        for name, part in tree.items():
            check(program, q, part, found.parts[name])
        return
    for name in names:
        leaf = found.parts[name]
        assert leaf.dimensions is not None
        assert_rows(
            program, q, [name], leaf.log_q, lambda item, values, n=name: log_set(program, [n], item, values)
        )
        for d in range(leaf.dimensions.shape[-1] if leaf.dimensions.shape[-1] > 1 else 0):
            assert_rows(
                program,
                q,
                [name],
                leaf.dimensions[..., d],
                lambda item, values, n=name, d=d: log_dimension(program, n, d, item, values[n]),
            )


def assert_rows(program: FiniteProgram, q: unknot.Trace, names: list[str], found: Tensor, one) -> None:
    shape = torch.broadcast_shapes(found.shape, *(q[name].leading_shape for name in names))
    found = found.detach().expand(shape)
    for place in rows(shape):
        values = {}
        for name in names:
            value = q[name].value.detach()
            value = value.expand(*shape, value.shape[-1])[place]
            values[name] = value.argmax() if program.site(name).classes else value
        want = mixture([one(item, values) for item in range(program.items)])
        assert abs(float(found[place]) - want) < 1e-9 * max(1.0, abs(want)), (names, place)


def check_program(seed: int) -> None:
    rng, program = random.Random(seed), random_program(seed)
    tree = random_tree([site.name for site in program.sites], rng)
    torch.manual_seed(seed)
    samples = rng.choice((None, None, 2))
    how = {"encoder": lambda given: run(program, given)}
    mode = rng.choice((torch.enable_grad, torch.no_grad, torch.inference_mode))
    with mode():
        q = run(program, Given(), samples)
        check(program, q, tree, InferenceMarginal(program.items, **how).tree(q, tree))  # type: ignore[arg-type]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_every_marginal_is_the_sum_over_everything(seed: int) -> None:
    check_program(seed)


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_every_marginal_is_the_sum_over_everything_in_many_programs(seed: int) -> None:
    check_program(seed)
