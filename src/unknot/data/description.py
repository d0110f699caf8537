"""A data set's description: all that a trained model must know of its data, without any of the items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from unknot.data.dataset import Column, Dataset
from unknot.data.factor import Factor
from unknot.data.text_dataset import TextDataset
from unknot.data.word_counter import WordCounter


def describe_dataset(data: Dataset) -> dict[str, Any]:
    """Name, item shape, columns and factors as plain data, for a JSON file; of texts, how their words are counted."""
    counter = data.counter if isinstance(data, TextDataset) else None
    text = {} if counter is None else {"text": counter.to_dict()}
    return {
        **text,
        "name": data.name,
        "shape": list(data.item_shape),
        "columns": list(data.columns),
        "table": [{"name": c.name, "kind": c.kind, "classes": list(c.classes)} for c in data.table],
        "factors": {name: describe_factor(factor) for name, factor in data.factors.items()},
    }


def dataset_without_items(told: Mapping[str, Any]) -> Dataset:
    """The data set of a description, with no items: new data can be read ``like`` it."""
    factors = {name: factor_without_items(name, factor) for name, factor in told["factors"].items()}
    table = tuple(Column(c["name"], c["kind"], tuple(c["classes"])) for c in told["table"])
    x, ids = torch.zeros(0, *told["shape"]), torch.zeros(0, dtype=torch.int64)
    columns = tuple(told["columns"])
    if "text" in told:
        counter = WordCounter.from_dict(told["text"], columns)
        return TextDataset(told["name"], x, ids, factors, columns=columns, counter=counter)
    return Dataset(told["name"], x, ids, factors, columns=columns, table=table)


def describe_factor(factor: Factor) -> dict[str, Any]:
    """Kind, classes and shape of a factor as plain data."""
    classes = None if factor.classes is None else list(factor.classes)
    return {"kind": factor.kind, "classes": classes, "size": list(factor.values.shape[1:])}


def factor_without_items(name: str, told: Mapping[str, Any]) -> Factor:
    """A factor of which only kind, classes and shape are there."""
    dtype = torch.float32 if told["kind"] == "continuous" else torch.int64
    classes = None if told["classes"] is None else tuple(told["classes"])
    return Factor(name, told["kind"], torch.zeros(0, *told["size"], dtype=dtype), classes)
