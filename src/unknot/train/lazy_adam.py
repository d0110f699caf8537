"""LazyAdam: Adam that updates of a weight with a sparse gradient only the rows which the gradient holds."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class LazyAdam(torch.optim.Adam):
    """torch's fused Adam, and for sparse gradients the lazy kind that :class:`torch.optim.SparseAdam` is.

    For each row i in a sparse gradient g, at the weight's step t,

        m_i <- b1 m_i + (1 - b1) g_i,   v_i <- b2 v_i + (1 - b2) g_i^2,
        w_i <- w_i - lr / (1 - b1^t) m_i / (sqrt(v_i / (1 - b2^t)) + eps).

    Rows that the gradient does not hold keep weight and moments, so that a step costs what the gradient holds. One
    optimizer for both kinds keeps one state, and one checkpoint. Weight decay is about all rows: with it, sparse
    gradients are made dense.
    """

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        lazy: list[tuple[Tensor, Tensor, dict[str, Any]]] = []
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None or not weight.grad.is_sparse:
                    continue
                if group["weight_decay"]:
                    weight.grad = weight.grad.to_dense()
                else:
                    lazy.append((weight, weight.grad, group))
                    weight.grad = None
        super().step(closure)
        for weight, gradient, group in lazy:
            weight.grad = gradient
            self._update_rows(weight, gradient.coalesce(), group)

    def _update_rows(self, weight: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        found = getattr(self, "found_inf", None)
        if found is not None and bool(found):  # as fused Adam does: a bad step changes nothing
            return
        state = self.state[weight]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32, device=weight.device)
            state["exp_avg"] = torch.zeros_like(weight)
            state["exp_avg_sq"] = torch.zeros_like(weight)
        state["step"] += 1
        (first, second), step = group["betas"], float(state["step"])
        rows, values = gradient.indices()[0], gradient.values()  # (R,), (R, ...)
        mean = state["exp_avg"][rows].lerp_(values, 1 - first)
        square = state["exp_avg_sq"][rows].lerp_(values.square(), 1 - second)
        state["exp_avg"].index_copy_(0, rows, mean)
        state["exp_avg_sq"].index_copy_(0, rows, square)
        width = (square / (1 - second**step)).sqrt_().add_(group["eps"])
        weight.index_add_(0, rows, mean / width, alpha=-float(group["lr"]) / (1 - first**step))


def entries(gradient: Tensor) -> Tensor:
    """The numbers of a gradient that need not be zero, each once."""
    return gradient.coalesce().values() if gradient.is_sparse else gradient
