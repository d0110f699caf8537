"""Dreams: items that the generative program makes, for objectives that train the recogniser on them."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from unknot.core.generated import drawn_at
from unknot.core.given_values import given
from unknot.core.replay import replay
from unknot.core.trace import Trace
from unknot.data.batch import Batch
from unknot.errors import SpecError
from unknot.train.objective import Objective


def traces(model: Any, objective: Objective | None, batch: Batch) -> tuple[Trace, Trace]:
    """The two traces that an objective is a function of: of the batch, or of as many dreams."""
    if objective is None or not is_of_dreams(objective):
        q, p = model(batch)
        return q, p
    return dream(model, len(batch))


def is_of_dreams(objective: Objective) -> bool:
    """Whether an objective is about dreams, as its entry in the catalogue says."""
    from unknot.objectives.catalogue import CATALOGUE

    function = objective.func if isinstance(objective, partial) else objective
    return any(entry.function is function for entry in CATALOGUE.values() if entry.of_dreams)


def dream(model: Any, count: int) -> tuple[Trace, Trace]:
    """Both programs on ``count`` items that the generative one makes: q observes what they were made from.

    A model that makes or reads its dreams in a way of its own says so by a method ``dream(count)``. No gradient goes
    into the dreams: the generative program does not learn from them.
    """
    if hasattr(model, "dream"):
        q, p = model.dream(count)
        return q, p
    if not (hasattr(model, "encode") and hasattr(model, "decode")):
        raise SpecError(
            "sleep: a model that dreams has encode(x) and decode(x, q), which generates from x=None."
        )
    asked = given(count)
    with torch.no_grad():
        p = model.decode(None, asked)
        x = _items(model, p, asked.asked)
    with replay(p):
        q = model.encode(x)
    return q, p


def _items(model: Any, p: Trace, latents: set[str]) -> torch.Tensor:
    """What was dreamt: as the model draws it, or what its data site has drawn."""
    for method in ("drawn", "expected"):
        if hasattr(model, method):
            made: torch.Tensor = getattr(model, method)(p)
            return made
    data = [node for node in p.nodes() if node.name not in latents]
    if len(data) != 1:
        names = ", ".join(node.name for node in data) or "none"
        raise SpecError(
            f"sleep: a program that dreams has one site that q does not propose, but found: {names}."
        )
    return drawn_at(data[0])
