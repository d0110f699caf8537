"""The catalogue names every objective, with symbols that the functions take and formulas that the docs repeat."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import unknot
from unknot.objectives import CATALOGUE
from unknot.objectives.catalogue import Entry

EQUATIONS = (Path(__file__).parents[2] / "docs" / "equations.md").read_text()
TABLE_ONE = {name: entry for name, entry in CATALOGUE.items() if entry.row is not None}


def plain(formula: str) -> str:
    """A formula without the freedoms of writing: spaces, minus signs, bars (a page's table has others)."""
    text = re.sub(r"\s", "", formula).replace("−", "-").replace("ᵃ", "^a")
    return re.sub(r"\|(.*?)\|", r"abs(\1)", text)


def test_every_objective_is_there_s17s_first_then_the_rows_of_table_1() -> None:
    assert list(CATALOGUE) == [
        *(
            "elbo",
            "semi_supervised",
            "importance_weighted",
            "supervised",
            "information_maximization",
            "sleep",
        ),
        *("vae", "beta_vae", "dip_vae", "info_vae", "capacity_vae", "anchor_vae", "information_dropout"),
        *("beta_tcvae", "factor_vae", "hfvae"),
    ]
    assert [entry.row for entry in TABLE_ONE.values()] == [1, 2, 3, 4, 5, 6, 7, 8, 8, 9]


def test_no_objective_of_the_package_is_left_out() -> None:
    """Public functions of (q, p) are in the catalogue; decompose takes the bound apart and trains nothing."""
    functions = {name: getattr(unknot.objectives, name) for name in unknot.objectives.__all__}
    of_traces = {
        name
        for name, thing in functions.items()
        if inspect.isfunction(thing) and list(inspect.signature(thing).parameters)[:2] == ["q", "p"]
    }
    assert of_traces - {"decompose"} == set(CATALOGUE)


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=list(CATALOGUE))
def test_entries_describe_their_functions(entry: Entry) -> None:
    assert getattr(unknot.objectives, entry.name) is entry.function
    signature = inspect.signature(entry.function).parameters
    assert set(entry.symbols) <= set(signature)
    assert entry.own_network is None or entry.own_network in entry.symbols
    assert entry.rewards
    assert entry.reference


@pytest.mark.parametrize("entry", TABLE_ONE.values(), ids=list(TABLE_ONE))
def test_rows_of_table_1_say_what_they_reward_and_name_all_their_symbols(entry: Entry) -> None:
    signature = inspect.signature(entry.function).parameters
    described = set(entry.symbols) | {"q", "p", "dataset_size", "options", "weights", "variables"}
    assert set(signature) <= described
    assert "rewards" in (entry.function.__doc__ or "").lower()


@pytest.mark.parametrize("entry", TABLE_ONE.values(), ids=list(TABLE_ONE))
def test_docstring_and_docs_have_the_catalogues_formula(entry: Entry) -> None:
    formula = plain(entry.formula.split(",")[0])
    assert plain(entry.function.__doc__ or "").startswith(formula)
    label = "E19 Table 1, row 1" if entry.row == 1 else f"row {entry.row}"
    _, said, functions, *_ = (
        next(line for line in EQUATIONS.splitlines() if line.startswith(f"| {label} |"))
        .strip("| ")
        .split(" | ")
    )
    assert f"`{entry.name}`" in functions
    assert plain(said).split(",")[0] in plain(entry.formula)


def test_defaults_are_those_of_the_functions() -> None:
    left_out = {"groups": None, "information": None, "marginal": None}
    assert CATALOGUE["hfvae"].defaults == {"alpha": 1.0, "beta": 4.0, "gamma": 3.0, **left_out}
    assert CATALOGUE["hfvae"].takes_dataset_size
    assert not CATALOGUE["beta_vae"].takes_dataset_size
    assert CATALOGUE["factor_vae"].own_network == "discriminator"
