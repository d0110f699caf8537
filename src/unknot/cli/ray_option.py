"""The option ``--ray [ADDRESS]``: its address may be left out, which typer has no way to say."""

from __future__ import annotations

from collections.abc import Sequence

RAY_HELP = "Run on the Ray cluster at this address; without one, on this machine's (needs unknot[sweep])."


def with_address(words: Sequence[str]) -> list[str]:
    """The words of a command line, with "auto" after a ``--ray`` that no address follows.

    >>> with_address(["sweep", "--ray", "spec.yaml"])
    ['sweep', '--ray', 'auto', 'spec.yaml']
    >>> with_address(["sweep", "--ray", "10.0.0.1:6379"])
    ['sweep', '--ray', '10.0.0.1:6379']
    """
    found: list[str] = []
    for place, word in enumerate(words):
        found.append(word)
        if word == "--ray" and not _is_address(words[place + 1 : place + 2]):
            found.append("auto")
    return found


def _is_address(following: Sequence[str]) -> bool:
    """Whether the next word, if there is one, is HOST:PORT, ray://..., "auto" or "local"."""
    return any(word in ("auto", "local") or (":" in word and "=" not in word) for word in following)
