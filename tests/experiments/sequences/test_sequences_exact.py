"""sequences-exact: differences that are rounding errors, and a comparison that can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from experiments.sequences import sequences_exact
from experiments.sequences.sequences_exact import EXPERIMENT, UNIT, cases, random_sequences, run


@pytest.mark.parametrize("place", [3, 8])  # all paths, forward-backward
def test_objectives_of_traces_are_exact(place: int) -> None:
    numbers = run(cases("smoke")[place], 0, None)
    assert set(numbers) == {measure.key for measure in EXPERIMENT.measures}
    assert all(number * UNIT < 1e-11 for number in numbers.values())
    assert torch.get_default_dtype() == torch.float32


def test_a_wrong_objective_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = sequences_exact.by_traces

    def wrong(*arguments: object) -> object:
        found = honest(*arguments)  # type: ignore[arg-type]
        return replace(found, elbo=found.elbo * 1.000001)

    monkeypatch.setattr(sequences_exact, "by_traces", wrong)
    assert run(cases("smoke")[3], 0, None)["elbo"] * UNIT > 1e-7


def test_labels_lie_within_the_sequences() -> None:
    x, lengths, labels = random_sequences(9, 3, 50)
    assert x.shape == labels.shape == (50, 9)
    assert lengths[0] == 9
    assert (labels[torch.arange(9) >= lengths[:, None]] == -1).all()
    assert (labels >= 0).any()
