"""Models whose counterfactuals are known without computing: a row is its class, its number and its style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import unknot
from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.models import node
from unknot.workflow.trained_model import TrainedModel

KINDS = 3
NODES = [
    node("kind", "concrete", KINDS, inferred_from=["x"], labels=True),
    node("size", "normal", 1, inferred_from=["x"], labels=True),
    node("style", "normal", 2, inferred_from=["x"]),
    node("x", "normal", parents=["kind", "size", "style"]),
]


class Exact(nn.Module):
    """x = (one-hot kind, size, style), read as it is.

    - ``stuck``: the kind does not show in what is made.
    - ``dragged``: so far the kind, by its index, moves what is made in the style's place.
    - ``copied``: so far the style that is read copies the kind.
    """

    def __init__(self, stuck: bool = False, dragged: float = 0.0, copied: float = 0.0) -> None:
        super().__init__()
        self.stuck, self.dragged, self.copied = stuck, dragged, copied
        self.unused = nn.Parameter(torch.zeros(()))

    def encode(self, x: Tensor, labels: Mapping[str, Any] | None = None) -> unknot.Trace:
        q, told = unknot.Trace(), labels or {}
        q.concrete(20 * x[:, :KINDS], 0.66, value=told.get("kind"), name="kind")
        q.normal(x[:, KINDS : KINDS + 1], 0.1, value=told.get("size"), name="size", event_dims=1)
        copy = self.copied * x[:, :KINDS].argmax(-1, keepdim=True)
        q.normal(x[:, KINDS + 1 :] + copy, 0.1, name="style", event_dims=1)
        return q

    def decode(self, x: Tensor | None, q: Any) -> unknot.Trace:
        p = unknot.Trace()
        kind = p.concrete(torch.zeros(KINDS), 0.66, value=q["kind"], name="kind")
        size = p.normal(torch.zeros(1), 1.0, value=q["size"], name="size", event_dims=1)
        style = p.normal(torch.zeros(2), 1.0, value=q["style"], name="style", event_dims=1)
        index = kind.argmax(-1, keepdim=True)
        shown = torch.eye(KINDS)[:1].expand(kind.shape) if self.stuck else kind
        made = torch.cat([shown, size, style + (self.dragged - self.copied) * index], -1)
        p.normal(made, 1.0, value=x, name="x", event_dims=1)
        return p


@dataclass(frozen=True)
class Written:
    """A source that knows its nodes."""

    def nodes(self, module: nn.Module, data: Dataset) -> list[Any]:
        return list(NODES)


def exact_data(count: int = 400, labeled: float = 1.0, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    kind, size, style = rng.integers(0, KINDS, count), rng.normal(size=count), rng.normal(size=(count, 2))
    rows = np.concatenate([np.eye(KINDS)[kind], size[:, None], style], 1)
    shown = rng.random(count) < labeled
    labels = {"kind": np.where(shown, kind, -1), "size": np.where(shown, size, np.nan)}
    kinds = {"kind": "categorical", "size": "continuous"}
    return from_arrays(rows, labels, kinds=kinds, classes={"kind": range(KINDS)})


def exact_model(**how: Any) -> TrainedModel:
    return TrainedModel(Exact(**how), Written(), exact_data().subset([]))  # type: ignore[arg-type]
