"""What a fuzzed call may do: succeed, or refuse in one sentence; and nothing else, in good time."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from unknot.errors import UnknotError

SECONDS = 120  # for one case on a busy machine; a hang is a failure


def answered(call: Callable[[], Any]) -> str | None:
    """Call; None if it succeeds, the sentence if it refuses. Anything else is raised: a fault of ours."""

    def too_long(number: int, frame: Any) -> None:
        raise AssertionError(f"no answer in {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except UnknotError as error:
        sentence = str(error)
        assert sentence.strip(), "an error without words"
        assert "\n" not in sentence, f"more than one line: {sentence!r}"
        assert len(sentence) < 2000, f"a page, not a sentence: {sentence[:200]!r}..."
        return sentence
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return None


def fuzz(cases: int, strategy: SearchStrategy[Any], body: Callable[[Any], None]) -> None:
    """Run ``body`` on so many values, the same ones each time."""
    quiet = settings(
        max_examples=cases,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    quiet(given(strategy)(lambda value: body(value)))()
