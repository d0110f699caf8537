"""All pairs of draws and items for a diagonal Normal: joint matrix and per-dimension marginals, fast.

For draws z_b and items x_c the plain way forms log q(z_bd | x_c), a B x C x D tensor, several times over, and
keeps them for the backward. Here blocks of rows are worked off in cache, and the backward, derived by hand,
computes each block again rather than storing it. With t = (z_bd - μ_cd) / σ_cd:

    J_bc = Σ_d log q(z_bd | x_c)                 log q(z_bd | x_c) = -t²/2 - log σ_cd - log(2π)/2
    M_bd = log Σ_c w_bc q(z_bd | x_c)            r_bcd = w_bc q(z_bd | x_c) / exp(M_bd)

    P_bcd = ∂loss/∂M_bd r_bcd + ∂loss/∂J_bc      (the gradient with respect to log q(z_bd | x_c))
    ∂loss/∂z_bd = -Σ_c P t/σ     ∂loss/∂μ_cd = Σ_b P t/σ     ∂loss/∂σ_cd = Σ_b P (t² - 1)/σ

The squares are not expanded into matrix products: z² - 2zμ + μ² loses all its digits in float32 once σ is
small against z (σ = 1e-3), while z - μ is exact where it matters. Second derivatives are not provided.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Size, Tensor

from unknot.errors import SpecError
from unknot.objectives.marginal.custom_op import HandDerived
from unknot.objectives.marginal.log_mixture import exp_, logsumexp_, tilt_own_

# ---- Walking a rows x columns problem in blocks of rows, small enough to stay in cache -------------------

# Elements of one work tensor. On a CPU some MiB (a share of the last-level cache: passes over a block then
# cost arithmetic, not memory traffic); on an accelerator enough to fill it.
CPU_BLOCK = 2**20
ACCELERATOR_BLOCK = 2**24


def rows_per_block(rows: Tensor, width: int) -> int:
    """How many rows of ``width`` elements each make a block, at least one and at most all."""
    block = CPU_BLOCK if rows.device.type == "cpu" else ACCELERATOR_BLOCK
    return max(1, min(rows.shape[0], block // width))


def work_tensors(count: int, rows: Tensor, shape: Size) -> list[Tensor]:
    """Tensors (rows per block, *shape) to write every block into: fresh memory is slow to touch."""
    size = rows_per_block(rows, shape.numel())
    return [rows.new_empty(size, *shape) for _ in range(count)]


def row_blocks(rows: Tensor, width: int, parent: Tensor | None) -> Iterator[tuple[int, slice | Tensor]]:
    """Yield ``(table, index)``: blocks of rows that share one parameter table.

    Without ``parent`` there is one table, 0, and blocks are slices. With it, row r belongs to table
    ``parent[r]``, and blocks are index vectors.
    """
    size = rows_per_block(rows, width)
    if parent is None:
        for start in range(0, rows.shape[0], size):
            yield 0, slice(start, start + size)
        return
    for table in parent.unique().tolist():
        if table < 0:
            raise SpecError(f"discrete parent: expected a class index from 0 for every draw, got {table}")
        for index in (parent == table).nonzero().squeeze(-1).split(size):
            yield table, index


Triple = tuple[Tensor, Tensor, Tensor]


def _forward(
    value: Tensor,
    loc: Tensor,
    scale: Tensor,
    parent: Tensor | None,
    own: Tensor | None,
    log_own: float,
    log_other: float,
) -> tuple[Tensor, Tensor]:
    """Joint (R, C) and marginals (R, D) of draws ``value`` (R, D) under ``loc``, ``scale`` (K, C, D).

    Row r uses the tables ``parent[r]``, (R,), or the only one where ``parent`` is None.
    """
    tables = _tables(loc, scale)
    joint = value.new_empty(value.shape[0], loc.shape[1])
    marginals = value.new_empty(value.shape)
    work = work_tensors(2, value, loc[0].mT.shape)
    for table, rows in row_blocks(value, loc[0].numel(), parent):
        _, logs = _standardize(value[rows], table, tables, work)
        joint[rows] = logs.sum(1)
        tilt_own_(logs, None if own is None else own[rows], log_own - log_other)
        marginals[rows] = logsumexp_(logs).add_(log_other)
    return joint, marginals


def _fake(
    value: Tensor,
    loc: Tensor,
    scale: Tensor,
    parent: Tensor | None,
    own: Tensor | None,
    log_own: float,
    log_other: float,
) -> tuple[Tensor, Tensor]:
    return value.new_empty(value.shape[0], loc.shape[1]), value.new_empty(value.shape)


@torch.library.custom_op("unknot::normal_pairs_backward", mutates_args=())
def normal_pairs_backward(
    grad_joint: Tensor,
    grad_marginals: Tensor,
    marginals: Tensor,
    value: Tensor,
    loc: Tensor,
    scale: Tensor,
    parent: Tensor | None,
    own: Tensor | None,
    log_own: float,
    log_other: float,
) -> Triple:
    """Gradients of value, loc and scale, by the formulas above."""
    tables = _tables(loc, scale)
    grad_value = value.new_empty(value.shape)
    # Accumulated as (K, D, C), columns last, like the tables.
    grad_loc, grad_scale = torch.zeros_like(tables[0]), torch.zeros_like(tables[0])
    work = work_tensors(2, value, loc[0].mT.shape)
    for table, rows in row_blocks(value, loc[0].numel(), parent):
        rate = tables[1][table]
        t, logs = _standardize(value[rows], table, tables, work)
        logs.sub_((marginals[rows] - log_other)[:, :, None])
        tilt_own_(logs, None if own is None else own[rows], log_own - log_other)
        pairs = exp_(logs).mul_(grad_marginals[rows][:, :, None])  # becomes P, (r, D, C)
        pairs.add_(grad_joint[rows][:, None, :])
        grad_scale[table].addcmul_(pairs.sum(0), rate, value=-1.0)
        push = pairs.mul_(t).mul_(rate)  # P t / σ
        grad_value[rows] = push.sum(-1).neg_()
        grad_loc[table] += push.sum(0)
        grad_scale[table] += push.mul_(t).sum(0)
    return grad_value, grad_loc.mT.contiguous(), grad_scale.mT.contiguous()


@normal_pairs_backward.register_fake
def _(
    grad_joint: Tensor,
    grad_marginals: Tensor,
    marginals: Tensor,
    value: Tensor,
    loc: Tensor,
    scale: Tensor,
    parent: Tensor | None,
    own: Tensor | None,
    log_own: float,
    log_other: float,
) -> Triple:
    return value.new_empty(value.shape), loc.new_empty(loc.shape), scale.new_empty(scale.shape)


def _tables(loc: Tensor, scale: Tensor) -> Triple:
    """μ, 1/σ and -log σ - log(2π)/2 as (K, D, C): columns last, so that long rows are contiguous."""
    columns_last = scale.mT.contiguous()
    constant = columns_last.log().neg_().sub_(0.5 * math.log(2 * math.pi))
    return loc.mT.contiguous(), columns_last.reciprocal(), constant


def _standardize(value: Tensor, table: int, tables: Triple, work: list[Tensor]) -> tuple[Tensor, Tensor]:
    """t = (z - μ)/σ and log q for a block of draws (r, D): both (r, D, C), written over ``work``."""
    loc, rate, constant = (entry[table] for entry in tables)
    t, logs = (tensor[: value.shape[0]] for tensor in work)
    torch.sub(value[:, :, None], loc, out=t).mul_(rate)
    torch.addcmul(constant, t, t, value=-0.5, out=logs)
    return t, logs


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    value, loc, scale, parent, own, ctx.log_own, ctx.log_other = inputs
    ctx.save_for_backward(output[1], value, loc, scale, parent, own)


def _backward(ctx: Any, grad_joint: Tensor, grad_marginals: Tensor) -> tuple[Tensor | None, ...]:
    gradients = normal_pairs_backward(
        grad_joint, grad_marginals, *ctx.saved_tensors, ctx.log_own, ctx.log_other
    )
    return *gradients, None, None, None, None


normal_pairs = HandDerived("normal_pairs", _forward, _fake, _save, _backward)
