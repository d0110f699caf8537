"""Recorded data: what is loaded, by content."""

from __future__ import annotations

import numpy as np

from experiments.ledger.data_identity import note_data, recorded_data
from unknot.data import load


def test_loaded_data_are_recorded_with_their_options() -> None:
    load("digits")
    with recorded_data() as found:
        data = load("digits")
        note_data("mine", np.arange(3), np.array(["a", None], dtype=object))
    load("digits")
    assert found["digits"] == data.fingerprint()[:12]
    assert set(found) == {"digits", "mine"}


def test_noted_data_differ_by_content_and_shape() -> None:
    kinds = [np.arange(4), np.arange(4.0), np.arange(4).reshape(2, 2), np.array(list("abcd"), dtype=object)]
    digests = []
    for array in kinds:
        with recorded_data() as found:
            note_data("mine", array)
        digests.append(found["mine"])
    assert len(set(digests)) == 4
