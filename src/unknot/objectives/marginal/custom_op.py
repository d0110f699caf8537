"""An operator whose backward is derived by hand: one opaque node for torch.compile, and no detour without it.

Operators registered with torch go through its dispatcher in Python, some 50 microseconds a call and a fifth of the work
itself on a batch of 256. Outside of a compiled graph nothing needs that, and the same functions are called as a plain
:class:`torch.autograd.Function`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")


class HandDerived(Generic[P, R]):
    """Calls ``forward``, with ``backward`` for its gradient.

    Arguments:

    * ``forward``: takes a tensor, then tensors, None and numbers by position; its annotations are the operator's
      schema. It must neither change what it was given nor give it back;
    * ``fake``: the same for shapes and types alone;
    * ``save``: ``save(ctx, inputs, output)`` keeps what the backward needs;
    * ``backward``: ``backward(ctx, *slopes)`` returns a gradient or None for every argument.
    """

    def __init__(
        self,
        name: str,
        forward: Callable[P, R],
        fake: Callable[P, R],
        save: Callable[..., None],
        backward: Callable[..., tuple[Any, ...]],
    ) -> None:
        self.op = torch.library.custom_op(f"unknot::{name}", forward, mutates_args=())
        self.op.register_fake(fake)
        self.op.register_autograd(backward, setup_context=save)
        self._plain = _plain(name, forward, save, backward)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if torch.compiler.is_compiling():
            return self.op(*args, **kwargs)
        return self._plain.apply(*args, **kwargs)


def _plain(
    name: str,
    forward: Callable[..., Any],
    save: Callable[..., None],
    backward: Callable[..., tuple[Any, ...]],
) -> type[torch.autograd.Function]:
    def run(ctx: Any, *inputs: Any) -> Any:
        kind = inputs[0].device.type
        if torch.is_autocast_enabled(kind):  # the operator chooses its own precision
            with torch.autocast(kind, enabled=False):
                output = forward(*inputs)
        else:
            output = forward(*inputs)
        save(ctx, inputs, output)
        return output

    methods = {"forward": staticmethod(run), "backward": staticmethod(backward)}
    return type(name, (torch.autograd.Function,), methods)
