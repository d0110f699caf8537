"""A small table with two kinds of columns, a class that its rows show, and an ensemble for it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unknot.data.dataset import Column, Dataset
from unknot.data.factor import Factor
from unknot.models.ensemble.ensemble import Ensemble
from unknot.workflow.default_models import TableEnsemble

NAN = float("nan")


def table(rows: int = 60, labeled: int = 24, *, holes: bool = False, seed: int = 0) -> Dataset:
    """Three real columns and a category of three; the class (of 2) and the number move them."""
    draw = torch.Generator().manual_seed(seed)
    kind = torch.arange(rows) % 2
    amount = torch.randn(rows, generator=draw)
    x = torch.randn(rows, 4, generator=draw)
    x[:, 0] += 3 * kind
    x[:, 1] = 5 * amount + 0.3 * x[:, 1] + 100
    x[:, 3] = (torch.rand(rows, generator=draw) * 3).floor()
    if holes:
        x[::7, 0] = NAN
        x[3::9, 3] = NAN
    known = torch.arange(rows) < labeled
    factors = {
        "kind": Factor("kind", "categorical", torch.where(known, kind, -1), ("a", "b")),
        "amount": Factor("amount", "continuous", torch.where(known, amount * 2 + 7, NAN)),
    }
    columns = (Column("a", "real"), Column("b", "real"), Column("c", "real"))
    return Dataset(
        "a table",
        x,
        torch.arange(rows) + 100,
        factors,
        table=(*columns, Column("d", "category", ("u", "v", "w"))),
    )


def only(data: Dataset, *names: str) -> Dataset:
    """The same table with some of its factors."""
    return Dataset(data.name, data.x, data.ids, {n: data.factors[n] for n in names}, table=data.table)


def prepared(data: Dataset, **options: Any) -> Ensemble:
    """An ensemble with random weights that knows the data."""
    torch.manual_seed(0)
    made = Ensemble(TableEnsemble(**options).spec(data))
    made.prepare(data)
    with torch.no_grad():
        for weight in made.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return made


def rows_of(data: Dataset) -> Tensor:
    assert isinstance(data.x, Tensor)
    return data.x
