"""How much of the data each dimension of the style holds."""

from __future__ import annotations

import torch

from unknot.core.trace import Trace
from unknot.core.validation import validation
from unknot.data.dataset import Dataset
from unknot.models.families import family_of
from unknot.objectives.diagnostics import information
from unknot.workflow.item_rows import items_at_once
from unknot.workflow.trained_model import TrainedModel

_MEASURED = 1000  # items used to estimate information


def style_information(model: TrainedModel, data: Dataset, dataset_size: int) -> list[tuple[str, float]]:
    """I(x; z_d) in nats for every dimension of the Gaussian nodes, most informative first (E19 Fig. 4 right).

    Nodes are taken at the best values of their parents, so that q(z_d | x) is a density of x alone.
    """
    items = data.subset(range(min(_MEASURED, items_at_once(model.shape), len(data))))
    best = model.mode_trace(items.batch(range(len(items))).x)
    size = max(dataset_size, len(items))
    found = []
    with torch.no_grad(), torch.random.fork_rng(devices=[]), validation(False):
        torch.manual_seed(0)
        for node in model.latents:
            if not family_of(node).gaussian or node.name not in best:
                continue
            dist = best[node.name].dist
            q = Trace()
            q.normal(dist.loc, dist.scale, name="code", event_dims=1)
            nats = information(q, size).dimensions["code"]
            found += [(f"{node.name}[{d}]", float(n)) for d, n in enumerate(nats)]
    return sorted(found, key=lambda pair: -pair[1])
