"""mnist-analogies: the style of one image in every digit."""

from __future__ import annotations

from unknot.papers.mnist_analogies import EXPERIMENT


def test_it_draws_analogies_of_its_own_data() -> None:
    ours = EXPERIMENT.cases("quick")[0]
    assert ours["picture"] == "analogies"
    assert ours["data"] == "mnist"
    assert EXPERIMENT.name == "mnist-analogies"
