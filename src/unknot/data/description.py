"""The description of a data set: what a trained model has to know of its data, without the items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import torch

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Column, Dataset
from unknot.data.factor import Factor
from unknot.data.hierarchy import Hierarchy
from unknot.data.text_dataset import TextDataset
from unknot.data.word_counter import WordCounter


def describe_dataset(data: Dataset) -> dict[str, Any]:
    """Return name, shape, columns, factors, the counting of words and the reading of cells as data for a JSON file."""
    counter = data.counter if isinstance(data, TextDataset) else None
    text = {} if counter is None else {"text": counter.to_dict()}
    cells = {}
    if isinstance(data, CellDataset):
        shares = [float(f"{share:.6g}") for share in data.shares]
        cells = {
            "cells": {
                "layer": data.layer,
                "unlabeled": list(data.unlabeled),
                "shares": shares,
                "are_counts": data.are_counts,
            }
        }
    return {
        **text,
        **cells,
        "name": data.name,
        "shape": list(data.item_shape),
        "columns": list(data.columns),
        "table": [asdict(column) | {"classes": list(column.classes)} for column in data.table],
        "factors": {name: describe_factor(factor) for name, factor in data.factors.items()},
        "resized_from": data.resized_from,
        "given": {name: describe_factor(factor) for name, factor in data.given.items()},
    }


def dataset_without_items(description: Mapping[str, Any]) -> Dataset:
    """Return the data set of a description, without items; new data can be read ``like`` it."""
    given = {name: factor_without_items(name, one) for name, one in description.get("given", {}).items()}
    return replace(_without_items(description), given=given)


def _without_items(description: Mapping[str, Any]) -> Dataset:
    factors = {name: factor_without_items(name, factor) for name, factor in description["factors"].items()}
    table = tuple(Column(**{**c, "classes": tuple(c["classes"])}) for c in description["table"])
    x, ids = torch.zeros(0, *description["shape"]), torch.zeros(0, dtype=torch.int64)
    columns = tuple(description["columns"])
    if "text" in description:
        counter = WordCounter.from_dict(description["text"], columns)
        return TextDataset(description["name"], x, ids, factors, columns=columns, counter=counter)
    if "cells" in description:
        made = CellDataset(description["name"], x, ids, factors, columns=columns)
        cells = description["cells"]
        unlabeled, shares = tuple(cells["unlabeled"]), tuple(map(float, cells["shares"]))
        made = replace(made, are_counts=bool(cells["are_counts"]))
        return replace(made, layer=str(cells["layer"]), unlabeled=unlabeled, shares=shares)
    resized = str(description.get("resized_from", ""))
    return Dataset(description["name"], x, ids, factors, columns=columns, table=table, resized_from=resized)


def describe_factor(factor: Factor) -> dict[str, Any]:
    """Return kind, classes and shape of a factor as plain data."""
    classes = None if factor.classes is None else list(factor.classes)
    made: dict[str, Any] = {"kind": factor.kind, "classes": classes, "size": list(factor.values.shape[1:])}
    if factor.tree is not None:
        made["tree"] = dict(factor.tree.parents)
    return made | ({"raters": list(factor.raters)} if factor.raters else {})


def factor_without_items(name: str, description: Mapping[str, Any]) -> Factor:
    """Return the factor of a description, without items."""
    dtype = torch.float32 if description["kind"] == "continuous" else torch.int64
    classes = None if description["classes"] is None else tuple(description["classes"])
    raters = tuple(description.get("raters", ()))
    return Factor(
        name,
        description["kind"],
        torch.zeros(0, *description["size"], dtype=dtype),
        classes,
        votes=torch.zeros(0, len(raters), dtype=torch.int64) if raters else None,
        raters=raters,
        tree=Hierarchy(description["tree"]) if "tree" in description else None,
    )
