"""Graphical models read from programs: which variable's parameters depend on which variables and on the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unknot.errors import TraceError
from unknot.graph.discover import discover
from unknot.graph.plates import collapse
from unknot.graph.structure import Edge, Graph, GraphNode

__all__ = ["Edge", "Graph", "GraphNode", "graph"]


def graph(
    encoder: Callable[..., Any] | None,
    decoder: Callable[..., Any] | None,
    example: Any = None,
    *,
    plates: bool = True,
    **kwargs: Any,
) -> Graph:
    """Read the recognition and the generative model (as in S17 Figs. 1 and 5) from the programs themselves.

    Runs ``q = encoder(example)`` and ``p = decoder(example, q)`` once. The run leaves no trace: random states and
    buffers are put back.

    Arguments:

    * ``encoder``: the recognition program; None lets the decoder draw from its prior;
    * ``decoder``: the generative program; None reads the recognition model alone;
    * ``example``: a batch of data, a tuple of the encoder's arguments or a dictionary of them;
    * ``plates``: loops in indexed scopes become plates; False keeps every turn;
    * ``kwargs``: further keywords for the encoder, such as labels.

    Returns a :class:`Graph`: nodes and edges of both models, which notebooks show as a picture.

    Dependence is read from the operations on tensors, whether or not they carry gradient. It is not seen
    through Python numbers: ``.item()``, ``if``, ``range`` and NumPy. Use tensors and ``where`` masks there.

    >>> import torch, unknot
    >>> def encoder(x):
    ...     q = unknot.Trace()
    ...     y = q.one_hot_categorical(logits=x[:, :3], name="y")
    ...     z = q.normal(unknot.cat([x, y]).sum(-1), 1.0, name="z")
    ...     return q
    >>> def decoder(x, q):
    ...     p = unknot.Trace()
    ...     y = p.one_hot_categorical(logits=torch.zeros(3), value=q["y"], name="y")
    ...     z = p.normal(0.0, 1.0, value=q["z"], name="z")
    ...     p.normal(y.sum(-1, keepdim=True) + z[:, None] * torch.ones(5), 1.0, value=x, name="x")
    ...     return p
    >>> print(graph(encoder, decoder, torch.ones(8, 5)))
    generative:
      y -> x
      z -> x
    recognition:
      x -> y
      y -> z
      x -> z
    """
    for program in (encoder, decoder):
        if program is not None and not callable(program):
            raise TraceError(
                f"graph() reads programs, but got a {type(program).__name__}: pass the encoder and the decoder "
                "themselves and an example, not their traces"
            )
    if encoder is None and decoder is None:
        raise TraceError("graph() needs an encoder, a decoder or both, but got neither")
    if isinstance(example, dict):
        args, kwargs = (), {**example, **kwargs}
    else:
        args = example if isinstance(example, tuple) else () if example is None else (example,)
    found = discover(encoder, decoder, args, kwargs)
    return collapse(found) if plates else found
