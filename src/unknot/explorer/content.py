"""What the explorer shows besides the graphs: variables, held-out items, ranges, draws from the prior, a map."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unknot.core.evidence import given
from unknot.core.node import Variable
from unknot.core.tracing import trace
from unknot.data.dataset import Dataset
from unknot.data.text_dataset import TextDataset
from unknot.explorer.graphs import Graphs
from unknot.models.families import family_of
from unknot.models.node_spec import NodeSpec
from unknot.workflow.answers import p_values, sets
from unknot.workflow.codes import style_information
from unknot.workflow.data_summary import drawn_in_ink
from unknot.workflow.evaluation import class_probabilities
from unknot.workflow.generation import deterministic_children
from unknot.workflow.labels import class_names, has_classes
from unknot.workflow.model_graph import model_graph
from unknot.workflow.prediction import predict
from unknot.workflow.trained_model import TrainedModel

MOST_ITEMS = 200  # in the tray and on the map
_MOST_NUMBERS = 1_000_000  # of all these items together
_DRAWS = 256  # from the prior
_MEASURED = 1000  # items from which ranges are taken
_ENDS = (0.005, 0.995)  # quantiles of codes that count as their range
LEAST_MAPPED = 30  # items of a map by t-SNE; below it has principal components


@dataclass(frozen=True)
class Block:
    """Arrays one after another, as the page reads them."""

    content: bytearray

    def put(self, values: np.ndarray | Tensor) -> dict[str, Any]:
        """Append an array; numbers from 0 to 255 that are whole, or are when multiplied by 255, take a byte each."""
        array = np.asarray(values, dtype=np.float32)
        start, kind, scale = len(self.content), "float", 1
        for factor in (1, 255):
            whole = np.rint(array * factor)
            if array.size and whole.min() >= 0 and whole.max() <= 255 and (whole / factor == array).all():
                kind, scale, array = "byte", factor, whole.astype(np.uint8)
                break
        self.content.extend(array.astype("<f4" if kind == "float" else np.uint8).tobytes())
        self.content.extend(bytes(-len(self.content) % 4))
        return {"start": start, "kind": kind, "scale": scale, "shape": list(np.shape(values))}


def describe(
    model: TrainedModel, graphs: Graphs, data: Dataset | None, train: Dataset | None, block: Block
) -> dict[str, Any]:
    """Describe a model and some items for the page.

    Parameters
    ----------
    model : TrainedModel
        The model.
    graphs : Graphs
        Its graphs.
    data : Dataset or None
        Items to choose from, best held-out ones. None: items that the model generates.
    train : Dataset or None
        The training data with the labels that were trained on, for the ranges of sliders; by default ``data``.
    block : Block
        Where arrays are appended.
    """
    draws = _prior_draws(model, graphs.sites)
    if data is None:
        x = model.generate(MOST_ITEMS, {name: value[:MOST_ITEMS] for name, value in draws.items()})
        chosen, rows = None, list(range(len(x)))
    else:
        rows = _rows(data, model)
        chosen = data.subset(rows)
        x = chosen.batch(range(len(rows))).x.to_dense()
    own = predict(model.program, x.to(model.device)).values
    kind = _kind(model)
    return {
        "kind": kind,
        "shape": list(model.shape),
        "ink": kind == "image" and (model.ink or drawn_in_ink(x.numpy())),
        "columns": _columns(model),
        "words": list(model.data.columns) if kind == "words" else [],
        "sites": _sites(model, graphs, own, train or data),
        "rangeOf": "training items" if train is not None else "these items",
        "items": {
            "x": block.put(x),
            "rows": rows,
            "generated": data is None,
            "labels": {} if chosen is None else _labels(chosen),
            "predictions": _predictions(model, x, block),
            "novelty": None if model.novelty is None else block.put(p_values(model, x)),
            "map": block.put(_map(model, x)),
        },
        "prior": {name: block.put(value) for name, value in draws.items()},
        "graph": None if data is None else model_graph(model, data).svg(),
        "refused": dict(graphs.refused),
    }


def _rows(data: Dataset, model: TrainedModel) -> list[int]:
    """Evenly spaced rows."""
    count = max(1, min(MOST_ITEMS, len(data), _MOST_NUMBERS // model.shape.numel()))
    return torch.linspace(0, len(data) - 1, count, dtype=torch.float64).long().tolist()


def _kind(model: TrainedModel) -> str:
    if len(model.shape) == 3 and model.shape[0] in (1, 3):
        return "image"
    if model.data.table:
        return "table"
    return "words" if isinstance(model.data, TextDataset) else "numbers"


def _columns(model: TrainedModel) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "kind": one.kind, "classes": list(one.classes)} for one in model.data.table or ()
    ]


# ---- variables ----------------------------------------------------------------------------------------------


def _sites(
    model: TrainedModel, graphs: Graphs, own: Mapping[str, Tensor], source: Dataset | None
) -> list[dict[str, Any]]:
    """The variables in the order of the encoder, with what their controls need."""
    information: dict[str, float] = {}
    codes = own
    if source is not None:
        some = source.subset(range(min(_MEASURED, len(source))))
        information = dict(style_information(model, some, len(source)))
        codes = model.predict(some.batch(range(len(some))).x.to_dense()).values
    sites = []
    for name in graphs.sites:
        node = model.node(name)
        kind = _control(node)
        one: dict[str, Any] = {
            "name": name,
            "kind": kind,
            "size": node.size,
            "labels": node.labels,
            "children": [c for c in deterministic_children(model.nodes, name) if c in graphs.child_sites],
        }
        if kind == "classes":
            one["classes"] = _class_names(model, node)
            one["python"] = [repr(value) for value in model.class_values(name)]
            if node.name in model.class_weights:
                one["weights"] = list(model.class_weights[name])
        elif kind == "numbers":
            one["dimensions"] = _ranges(node, codes[name], source)
            for d, dimension in enumerate(one["dimensions"]):
                nats = information.get(f"{name}[{d}]")
                dimension["nats"] = nats if nats is not None and math.isfinite(nats) else None
        sites.append(one)
    return sites


def _control(node: NodeSpec) -> str:
    if has_classes(node):
        return "classes"
    if node.family.name == "direction":
        return "direction"
    return "switches" if not family_of(node).gaussian and family_of(node).label_kind is None else "numbers"


def _class_names(model: TrainedModel, node: NodeSpec) -> list[str]:
    count = node.size or 0
    factor = model.data.factors.get(node.name)
    return [str(k) for k in range(count)] if factor is None else list(class_names(factor, count))


def _ranges(node: NodeSpec, codes: Tensor, source: Dataset | None) -> list[dict[str, Any]]:
    """For each dimension the range of the labels, or else that of the codes, and the ends of its slider."""
    values = codes.reshape(len(codes), -1).double()
    low, high = torch.quantile(values, torch.tensor(_ENDS, dtype=torch.float64), dim=0)
    factor = None if source is None else source.factors.get(node.name)
    if factor is not None and bool(factor.known.any()):
        labels = factor.values[factor.known].double().reshape(int(factor.known.sum()), -1)
        low, high = labels.amin(0), labels.amax(0)
    middle, half = (low + high) / 2, ((high - low) / 2).clamp_min(1e-3) * 1.5
    if not node.labels and node.prior is None:  # a standard normal code
        middle, half = torch.zeros_like(middle), torch.maximum(half, torch.tensor(3.0, dtype=torch.float64))
    return [
        {"low": a, "high": b, "least": c - h, "most": c + h}
        for a, b, c, h in zip(low.tolist(), high.tolist(), middle.tolist(), half.tolist(), strict=True)
    ]


# ---- items --------------------------------------------------------------------------------------------------


def _labels(chosen: Dataset) -> dict[str, list[Any]]:
    """The labels as words; None where unknown."""
    found = {}
    for name, factor in chosen.factors.items():
        known = factor.known.tolist()
        if factor.kind == "continuous":
            words = [", ".join(f"{v:.3g}" for v in np.ravel(one)) for one in factor.values.tolist()]
        else:
            names = class_names(factor, int(factor.values.max()) + 1)
            words = [names[k] if k >= 0 else "" for k in factor.values.tolist()]
        found[name] = [word if one else None for word, one in zip(words, known, strict=True)]
    return found


def _predictions(model: TrainedModel, x: Tensor, block: Block) -> dict[str, Any]:
    """What Python predicts for the items: probabilities ``(N, K)`` of classes, and sets where there are some."""
    found = {}
    predictions = model.predict(x).predictions
    for node in model.latents:
        if node.name not in predictions or not has_classes(node):
            continue
        shares = class_probabilities(predictions[node.name].numpy())
        one = {"probabilities": block.put(shares)}
        if node.name in model.out_of_fold and model.data.factors[node.name].kind != "continuous":
            one["sets"] = block.put(sets(model, predictions[node.name].numpy(), node.name))
        found[node.name] = one
    return found


def _map(model: TrainedModel, x: Tensor) -> np.ndarray:
    """The items in two dimensions by their predictions, from 0 to 1: t-SNE, or principal components of a few."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    codes = np.concatenate([one.numpy() for one in model.predict(x).predictions.values()], axis=1)
    codes = (codes - codes.mean(0)) / np.maximum(codes.std(0), 1e-6)
    if len(codes) >= LEAST_MAPPED:
        made = TSNE(init="pca", perplexity=min(30, len(codes) / 4), random_state=0).fit_transform(codes)
    elif len(codes) > 2 and codes.shape[1] > 1:
        made = PCA(2).fit_transform(codes)
    else:
        made = np.stack([np.arange(len(codes)), np.zeros(len(codes))], 1)
    low, high = made.min(0), made.max(0)
    return np.asarray((made - low) / np.maximum(high - low, 1e-9))


def _prior_draws(model: TrainedModel, sites: tuple[str, ...]) -> dict[str, Tensor]:
    """Draws of all variables from the prior, ancestors first."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        p = trace(model.program.decode, None, given(_DRAWS))
    found = {}
    for name in sites:
        node = p[name]
        assert isinstance(node, Variable)
        found[name] = node.value.expand(_DRAWS, *node.value.shape[1:]).cpu()
    return found
