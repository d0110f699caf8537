"""The symbols of objectives: read from signatures and type hints, options one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from unknot.objectives import hfvae
from unknot.objectives.symbols import hint_schema, symbols_of


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (float | Tensor, "a number"),
        (float | Mapping[str, float] | None, "a number or a table or left out"),
        (Sequence[str] | Mapping[str, Sequence[int]], "a list or a table"),
        (bool, "true or false"),
        (Callable[[], float] | None, None),
        (nn.Module, None),
        (Any, None),
    ],
)
def test_what_a_file_may_give_for_a_type(hint: Any, words: str | None) -> None:
    assert hint_schema(hint).get("description") == words


def test_options_count_one_by_one_and_other_keywords_are_anything() -> None:
    symbols, takes_any = symbols_of(hfvae)
    assert {"beta", "dataset_size", "reference", "parents"} <= set(symbols)
    assert not takes_any
    assert [name for name, symbol in symbols.items() if symbol.required] == ["dataset_size"]

    def of_anything(q: Any, p: Any, weight: float, **more: Any) -> None: ...

    assert symbols_of(of_anything)[1]
    assert list(symbols_of(partial(of_anything, weight=1.0))[0]) == ["weight"]


def test_a_module_is_read_by_its_forward() -> None:
    class Objective(nn.Module):
        def forward(self, q: Any, p: Any, batch: Any, gamma: int = 2) -> Tensor:
            return torch.zeros(())

    symbols, _ = symbols_of(Objective())
    assert list(symbols) == ["batch", "gamma"]
    assert symbols["gamma"].default == 2
