"""The one "did you mean"."""

from __future__ import annotations

from unknot.suggest import did_you_mean, nearest


def test_the_nearest_word_or_none() -> None:
    assert nearest("stlye", ["digit", "style"]) == "style"
    assert nearest("color", ["digit", "style"]) is None
    assert nearest(10, [10, 20]) == "10"


def test_a_sentence_names_the_nearest_and_all() -> None:
    assert did_you_mean("stlye", ("digit", "style")) == "did you mean 'style'? There are: digit, style."
    assert did_you_mean("color", ("digit", "style")) == "there are: digit, style."
    assert did_you_mean("color", ()) == "there are none."
