"""Errors: one base, and each can cross a process."""

from __future__ import annotations

import inspect
import pickle

import pytest

from unknot import errors
from unknot.errors import DiskError, UnknotError

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if not issubclass(kind, Warning)]


@pytest.mark.parametrize("kind", KINDS)
def test_everything_refused_is_an_unknot_error(kind: type[UnknotError]) -> None:
    assert issubclass(kind, UnknotError)
    error = kind(
        *(["a.csv", "the disk is full", "free some space"] if kind is DiskError else ["a sentence."])
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_disk_error_is_a_sentence_of_its_parts() -> None:
    error = DiskError("a.csv", "the disk is full", "free some space")
    assert str(error) == "Could not write a.csv: the disk is full; free some space."
    assert error.reason == "the disk is full"
