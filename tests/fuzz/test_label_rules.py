"""Label rules of every kind, on factors of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.fuzz.outcomes import answered, fuzz
from unknot.data.dataset import Dataset
from unknot.data.from_arrays import from_arrays
from unknot.workflow.recipe import Recipe

FACTORS: dict[str, Any] = {
    "class": np.arange(12) % 3,
    "flag": np.arange(12) % 2 == 0,
    "number": np.linspace(0, 1, 12),
    "gaps": [None, 1, 2] * 4,
    "few": [0] * 11 + [1],
    "a b": ["x", "y"] * 6,
    "dataset": np.arange(12) % 2,
}
VALUES: list[Any] = [
    *[-1, 0, 1, 5, 12, 13, 2**40, 1.5, True, None, "all", "some", "", [], [0], [3, 3], [99], [-1], ["x"]],
    *[[True] * 12, [False] * 12, [True] * 5, [2**70], {}, {"per": "class"}, {"per": "class", "number": None}],
]
per = st.fixed_dictionaries(
    {
        "per": st.sampled_from([*FACTORS, "absent", 3]),
        "number": st.sampled_from([-1, 0, 1, 4, 100, 10**30, "x"]),
    }
)
usual = st.sampled_from([0, 1, 2, 3, 5, 6, 12, "all", [0], [3, 3], [True] * 12, [True] * 5])
rules = st.dictionaries(
    st.sampled_from([*FACTORS, *FACTORS, "absent", "seed"]),
    st.one_of(usual, usual, per, st.sampled_from(VALUES)),
    max_size=3,
)


@pytest.fixture(scope="module")
def data() -> Dataset:
    return from_arrays(np.zeros((12, 2), dtype=np.float32), FACTORS, kinds={"gaps": "categorical"})


@pytest.mark.parametrize("cases", [150, pytest.param(700, marks=pytest.mark.slow)])
def test_rules(cases: int, data: Dataset) -> None:
    def body(labels: dict[str, Any]) -> None:
        def use() -> None:
            recipe = Recipe.from_dict({"data": {"name": "digits"}, "labels": labels})
            budget = recipe.budget(data)
            budget.apply(data)
            budget.validation(data, 0.2, seed=0)

        answered(use)

    fuzz(cases, rules, body)
