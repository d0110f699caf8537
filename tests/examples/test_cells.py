"""The example of cells runs on synthetic ones, and finds their types."""

from __future__ import annotations

import pytest

from tests.examples.loading import load
from unknot.errors import UnknotWarning


def test_types_of_a_new_donor_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNKNOT_DATA", raising=False)
    with pytest.warns(UnknotWarning, match="genes of the model are missing"):
        assert load("cells").main(60) > 0.8
