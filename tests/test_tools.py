"""The tools measure what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from unknot.suggest import did_you_mean

TOOLS = Path(__file__).parent.parent / "tools"


def test_the_footprint_counts_functions_of_ours_alone() -> None:
    reached = runpy.run_path(str(TOOLS / "footprint.py"))["reached"]
    words = ["digit", "style"]
    assert reached(lambda: sorted(words)) == set()
    assert reached(lambda: did_you_mean("digti", words)) == {
        ("suggest.py", "did_you_mean"),
        ("suggest.py", "nearest"),
    }
    stopped = reached(
        lambda: [did_you_mean("a", words), pytest.fail("too far")], ("suggest.py", "did_you_mean")
    )
    assert ("suggest.py", "nearest") in stopped


def test_the_import_graph_lists_what_is_imported_first() -> None:
    tool = runpy.run_path(str(TOOLS / "import_graph.py"))
    graph = tool["import_graph"]()
    order = tool["in_order"](graph)
    assert set(order) == set(graph)
    assert order.index("errors") < order.index("core") < order.index("objectives") < order.index("cli")
    assert graph["cli"]["workflow"] > 0


def test_the_bias_table_has_a_column_for_every_batch_size() -> None:
    tool = runpy.run_path(str(TOOLS / "bias_table.py"))
    lines = tool["table"]((4, 20), trials=2).splitlines()
    assert lines[0] == "| | B = 4 | B = 20 |"
    assert len(lines) == 2 + len(tool["ROWS"])
    page = (TOOLS.parent / "docs" / "equations.md").read_text(encoding="utf-8")
    kept = page.split(tool["START"])[1].split(tool["END"])[0].strip().splitlines()
    assert [line.split(" | ")[0] for line in kept[2:]] == [f"| {name}" for name in tool["ROWS"]]


def test_the_table_of_the_price_has_a_row_for_every_size_and_knows_the_truth() -> None:
    tool = runpy.run_path(str(TOOLS / "price_bias.py"))
    lines = tool["table"]((4, 20), items=40).splitlines()
    assert lines[0] == "| | B = 4 | B = 20 |"
    assert len(lines) == 2 + len(tool["SIZES"])
    # by draws: log p(z | y) - log p(z) at draws of both
    draw = np.random.default_rng(0)
    means = tool["APART"] * np.arange(tool["CLASSES"])
    z = means[draw.integers(0, len(means), 200_000)] + draw.normal(size=200_000)
    density = np.exp(-0.5 * (z[:, None] - means) ** 2)
    entropy = -np.log(density.mean(1) / np.sqrt(2 * np.pi))
    expected = entropy.mean() - 0.5 * np.log(2 * np.pi * np.e)
    assert abs(tool["truth"]() - expected) < 5 * entropy.std() / 200_000**0.5


def test_the_table_of_the_correlation_has_a_column_for_every_number_of_further_items() -> None:
    tool = runpy.run_path(str(TOOLS / "correlation_bias.py"))
    lines = tool["table"]((0, 20), items=128).splitlines()
    assert lines[0] == "| | truth | 64 | 64 + 20 |"
    assert len(lines) == 2 + len(tool["SIZES"])
    # two dimensions: -log(1 - ρ²) / 2
    assert abs(tool["truth"](2) + 0.5 * np.log(1 - tool["CORRELATION"] ** 2)) < 1e-7
    draws = tool["codes"](50_000, 3)["z"].value
    assert float((draws.T.cov() - tool["covariance"](3)).abs().max()) < 0.03  # six standard errors
