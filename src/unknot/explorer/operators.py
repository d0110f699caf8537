"""Operators that torch's exporter does not translate to ONNX: ranks of table columns, and missing cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

# Wichura 1988 (AS 241), PPND7: the normal quantile within 1e-7. Coefficients from the highest power down.
_MIDDLE = (
    (59.109374720, 159.29113202, 50.434271938, 3.3871327179),
    (67.187563600, 78.757757664, 17.895169469, 1.0),
)
_NEAR = ((0.1702382103, 1.3067284816, 2.7568153900, 1.4234372777), (0.12021132975, 0.73700164250, 1.0))
_FAR = ((0.01733720399, 0.42868294337, 3.0812263860, 6.6579051150), (0.012258202635, 0.24197894225, 1.0))

_ITERATIONS = 40  # enough for condition numbers up to about 1e5


def translations() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return ONNX functions by the operator of torch that they replace."""
    return {
        torch.ops.aten.searchsorted.Tensor: _searchsorted,
        torch.ops.aten.special_ndtri.default: _ndtri,
        torch.ops.aten.linalg_inv_ex.default: _inverse,
    }


def _opset() -> Any:
    """ONNX's operators, which take Python's lists and numbers for constants."""
    from onnxscript import opset18

    return opset18


def _searchsorted(
    sorted_sequence: Any,
    self: Any,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """How many entries of a sorted row are below each value (or not above it), by comparing all."""
    op = _opset()

    row, value = op.Unsqueeze(sorted_sequence, [-2]), op.Unsqueeze(self, [-1])
    counted = op.LessOrEqual(row, value) if right or side == "right" else op.Less(row, value)
    return op.ReduceSum(op.Cast(counted, to=7), [-1], keepdims=0)


def _ndtri(self: Any) -> Any:
    """The quantile of the standard normal distribution."""
    op = _opset()

    q = op.Sub(self, op.Constant(value_float=0.5))
    tail = op.Min(self, op.Sub(op.Constant(value_float=1.0), self))
    r = op.Sqrt(op.Neg(op.Log(op.Max(tail, op.Constant(value_float=1e-30)))))
    near = _ratio(op, op.Sub(r, op.Constant(value_float=1.6)), _NEAR)
    far = _ratio(op, op.Sub(r, op.Constant(value_float=5.0)), _FAR)
    away = op.Where(op.LessOrEqual(r, op.Constant(value_float=5.0)), near, far)
    square = op.Sub(op.Constant(value_float=0.180625), op.Mul(q, q))
    middle = op.Mul(q, _ratio(op, square, _MIDDLE))
    close = op.LessOrEqual(op.Abs(q), op.Constant(value_float=0.425))
    return op.Where(close, middle, op.Mul(op.Sign(q), away))


def _ratio(op: Any, x: Any, ratio: tuple[tuple[float, ...], tuple[float, ...]]) -> Any:
    """The ratio of two polynomials, by Horner's rule."""
    parts = []
    for first, *others in ratio:
        value = op.Constant(value_float=first)
        for one in others:
            value = op.Add(op.Mul(value, x), op.Constant(value_float=one))
        parts.append(value)
    return op.Div(parts[0], parts[1])


def _inverse(A: Any, check_errors: bool = False) -> Any:
    """The inverse of matrices by Newton's iteration X <- 2 X - X A X, from X = A' / (|A|_1 |A|_inf)."""
    op = _opset()

    rank = len(A.shape)
    absolute = op.Abs(A)
    columns = op.ReduceMax(op.ReduceSum(absolute, [-2], keepdims=1), [-1], keepdims=1)
    rows = op.ReduceMax(op.ReduceSum(absolute, [-1], keepdims=1), [-2], keepdims=1)
    order = [*range(rank - 2), rank - 1, rank - 2]
    x = op.Div(op.Transpose(A, perm=order), op.Mul(columns, rows))
    for _ in range(_ITERATIONS):
        x = op.Sub(op.Add(x, x), op.MatMul(x, op.MatMul(A, x)))
    return x, op.Constant(value_int=0)
