"""Swap: an item generated with another item's factors must be encoded as what it was generated from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from unknot.core.evidence import given
from unknot.core.program import Program
from unknot.core.site_prediction import first_draw, label_or_prediction
from unknot.core.trace import Trace
from unknot.objectives.regularizers.independence import factors_and_style


def swap(
    program: Program, batch: Any, q: Trace, p: Trace, *, decoder_weight: float = 1.0
) -> dict[str, Tensor]:
    """Negative log-probability of the values of generated items with swapped factors.

    The values of the sites that take labels are exchanged between the items of a batch, by one permutation for each
    site; all others are kept, and the decoder generates an item x̂ from that. The penalty is

        -Σ_v log q(v | x̂)        over the sites v, at the values that x̂ was generated from,

    the sleep phase of the wake-sleep algorithm (Hinton et al. 1995) at combinations of factors that no item may have,
    as when the decoder is asked for a counterfactual. It teaches the encoder to infer the same style whatever the
    factors, and the decoder to generate items whose factors can be predicted. The values pass no gradient.

    Swapped samples do not update the encoder of a factor whose gradient is ``detached``. Generated items are encoded
    as after training, without dropout and with the running moments of batch norm, which they do not enter: with
    moments of their own, generated items that are paler than real ones would look like them in training only.

    Parameters
    ----------
    program : Program
        Generates (:meth:`~unknot.core.program.Program.expected_data`) and encodes.
    batch : Batch
        The items.
    q, p : Trace
        Their traces.
    decoder_weight : float, default=1.0
        How much the decoder learns from the terms of the style, beside those of the factors. With 1, styles are kept
        best; but where a factor leaves the style little to show, as a 1 does, the decoder learns to write the style in
        specks that only the encoder looks at. With 0 it learns from the factors alone.

    Returns
    -------
    dict from str to Tensor
        ``swap``, one penalty per item.
    """
    factors, style = factors_and_style(program, batch, q, "swap")
    values: dict[str, Tensor] = {}
    for node in q.variables():
        if node.name in factors:
            value, _ = label_or_prediction(node, program.site_prediction(node))
            values[node.name] = value[torch.randperm(len(value), device=value.device)]
        elif node.name in style:
            values[node.name] = first_draw(node.value.detach(), node.event_dims)
        else:  # computed from other sites alone: it follows them
            values[node.name] = program.derive_latent(node.name, values)
    generated = program.expected_data(given(len(batch.x), values))
    detached = [name for name in factors if q[name].gradient == "detached"]
    learning = [name for name in factors if name not in detached]
    log_prob: Tensor | None = None
    with eval_mode(program):
        for names, x, frozen in _passes(generated, learning, detached, style, decoder_weight):
            with frozen_weights(program, frozen):
                scored = {name: value for name, value in values.items() if name in names}
                more = program.score_latents(x, scored, values).log_prob()
            log_prob = more if log_prob is None else log_prob + more
    assert log_prob is not None
    return {"swap": -log_prob}


def _passes(
    generated: Tensor, learning: list[str], detached: list[str], style: list[str], decoder_weight: float
) -> list[tuple[list[str], Tensor, bool]]:
    """The runs of the encoder: the sites to score, the items, and whether the weights are frozen."""
    if decoder_weight == 1.0 and not detached:
        return [([*learning, *style], generated, False)]
    damped = generated.detach() + decoder_weight * (generated - generated.detach())
    passes = [(learning, generated, False), (detached, generated, True), (style, damped, False)]
    return [one for one in passes if one[0]]


@contextmanager
def eval_mode(module: nn.Module) -> Iterator[None]:
    """Inside, a module computes as it does after training, with gradients."""
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


@contextmanager
def frozen_weights(module: nn.Module, frozen: bool = True) -> Iterator[None]:
    """Inside, gradients pass through a module but do not reach its weights, unless ``frozen`` is false."""
    weights = [w for w in module.parameters() if frozen and w.requires_grad]
    for weight in weights:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in weights:
            weight.requires_grad_(True)
