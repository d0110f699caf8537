"""An operator with a backward of its own is the same function with and without torch.compile."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unknot.objectives.marginal.custom_op import HandDerived


def _forward(value: Tensor, factor: float, offset: Tensor | None) -> tuple[Tensor, Tensor]:
    scaled = factor * value
    return scaled * scaled if offset is None else scaled * scaled + offset, scaled


def _fake(value: Tensor, factor: float, offset: Tensor | None) -> tuple[Tensor, Tensor]:
    return torch.empty_like(value), torch.empty_like(value)


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.factor = inputs[1]
    ctx.save_for_backward(output[1])


def _backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor, None, Tensor | None]:
    (scaled,) = ctx.saved_tensors
    return 2 * ctx.factor * scaled * grad, None, grad if ctx.needs_input_grad[2] else None


squared = HandDerived("squared_for_a_test", _forward, _fake, _save, _backward)


def test_its_gradient_is_the_one_derived_by_hand() -> None:
    value, offset = (torch.randn(4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(lambda v: squared(v, 3.0, None)[0], [value])
    assert torch.autograd.gradcheck(lambda v, o: squared(v, 3.0, o)[0], [value, offset])
    torch.library.opcheck(squared.op, (value.detach(), 3.0, offset.detach()))


def test_a_compiled_graph_sees_one_node_and_gets_the_same() -> None:
    value = torch.randn(4, requires_grad=True)
    nodes: list[str] = []

    def backend(graph: torch.fx.GraphModule, _: list[Tensor]) -> Any:
        nodes.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return graph.forward

    def function(value: Tensor) -> Tensor:
        return squared(value, 3.0, None)[0].sum()

    compiled = torch.compile(function, fullgraph=True, backend=backend)
    (found,) = torch.autograd.grad(compiled(value), value)
    (wanted,) = torch.autograd.grad(function(value), value)
    torch.testing.assert_close(found, wanted)
    assert any("squared_for_a_test" in name for name in nodes)


def test_it_can_be_gone_through_twice() -> None:
    value = torch.randn(4, requires_grad=True)
    result = squared(value, 3.0, None)[0].sum()
    first = torch.autograd.grad(result, value, retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(result, value), first)
