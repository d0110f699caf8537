"""A plain counter: convolutions and a classifier, what one would try first where only counts are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from experiments.canvases.model.cell_map import CellMap, over_views
from experiments.ledger.fit_silently import fit_wholly
from unknot.core.evidence import partial
from unknot.core.trace import Trace
from unknot.data.batch import Batch
from unknot.data.dataset import Dataset
from unknot.models.networks.mlp import mlp
from unknot.train.config import TrainConfig

_CHUNK = 1000  # canvases counted at once


class Counter(nn.Module):
    """The count from the mean and the largest of each feature of a canvas; it too sees flipped and transposed ones."""

    def __init__(self, canvas: int, most: int) -> None:
        super().__init__()
        self.cells = CellMap(canvas)
        self.count = mlp(2 * self.cells.features, [self.cells.features], most + 1)

    def forward(self, batch: Batch) -> tuple[Trace, Trace]:
        q = Trace()
        known = partial(batch.values["count"])
        logits = self.logits(batch.x)  # (B, counts)
        q.categorical(logits=logits, value=known, name="count", gradient="enumerate")
        p = Trace()
        p.categorical(logits=torch.zeros_like(logits[0]), value=q["count"], name="count")
        return q, p

    def logits(self, x: Tensor) -> Tensor:
        views = [features for features, _ in self.cells(x)]  # (B, cells, D) each
        return over_views([self.count(torch.cat([seen.mean(1), seen.amax(1)], -1)) for seen in views])


def counter_accuracy(shown: Dataset, test: Dataset, train: Mapping[str, Any], seed: int) -> float:
    """Per cent of test canvases that a counter, trained on the labeled ones alone, counts right."""
    labeled = shown.labeled("count")
    torch.manual_seed(seed)
    counter = Counter(shown.item_shape[-1], int(labeled.factor("count").values.max()))
    config = TrainConfig.from_dict({**train, "seed": seed, "progress": False, "device": "cpu"})
    fit_wholly(counter, labeled, config)
    right = 0
    with torch.no_grad():
        for rows in torch.arange(len(test)).split(_CHUNK):
            batch = test.batch(rows)
            right += int((counter.logits(batch.x).argmax(-1) == batch.values["count"]).sum())
    return 100 * right / len(test)
