"""``load`` and ``names``: the one call that gives any data set of the catalogue."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from unknot.data.dataset import Dataset
from unknot.data.files.catalogue import Entry
from unknot.data.files.sources import find
from unknot.data.sets import (
    celeba,
    computed,
    dsprites,
    faces,
    mnist,
    newsgroups,
    newsgroups_text,
    spoken_digits,
    svhn,
    yale_b,
)
from unknot.errors import DataError
from unknot.suggest import did_you_mean


class _Set(NamedTuple):
    entry: Entry
    build: Callable[..., Dataset]  # (files, **options); without files where nothing needs to be read


_CATALOGUE = {
    part.entry.name: part
    for part in (
        _Set(mnist.ENTRY, mnist.build),
        _Set(mnist.FASHION_ENTRY, mnist.build_fashion),
        _Set(svhn.ENTRY, svhn.build),
        _Set(yale_b.ENTRY, yale_b.build),
        _Set(faces.OLIVETTI, faces.build_olivetti),
        _Set(faces.FREY, faces.build_frey),
        _Set(dsprites.ENTRY, dsprites.build),
        _Set(celeba.ENTRY, celeba.build),
        _Set(newsgroups.ENTRY, newsgroups.build),
        _Set(newsgroups_text.ENTRY, newsgroups_text.build),
        _Set(spoken_digits.ENTRY, spoken_digits.build),
        _Set(computed.MULTI_MNIST, computed.build_multi_mnist),
        _Set(computed.DIGITS, computed.build_digits),
    )
}


def names() -> tuple[str, ...]:
    """The names that ``load`` takes."""
    return tuple(_CATALOGUE)


def entries() -> tuple[Entry, ...]:
    """What the catalogue says of each data set."""
    return tuple(part.entry for part in _CATALOGUE.values())


def entry(name: str) -> Entry:
    """What the catalogue says of one data set."""
    return _look_up(name).entry


def load(name: str, data_dir: str | Path | None = None, download: bool = True, **options: Any) -> Dataset:
    """A data set by name, for instance ``load("mnist")`` or ``load("yale-b", max_angle=85)``.

    Arguments:

    * ``name``: one of :func:`names`;
    * ``data_dir``: where the files are looked for first, instead of the folder that UNKNOT_DATA names; then the cache;
    * ``download``: fetch into the cache what is in neither; off: such a set is refused, with where to put which file;
    * ``options``: those of the data set; docs/data.md has them.

    Returns a :class:`~unknot.data.Dataset`.
    """
    chosen = _look_up(name)
    _check_options(name, chosen.build, options)
    if not chosen.entry.forms:
        return chosen.build(**options)
    files = find(chosen.entry, data_dir, download, others=entries())
    return chosen.build(files, **options)


def _look_up(name: str) -> _Set:
    if name not in _CATALOGUE:
        raise DataError(f"There is no data set named {name!r}; {did_you_mean(name, _CATALOGUE)}")
    return _CATALOGUE[name]


def _check_options(name: str, build: Callable[..., Dataset], options: dict[str, Any]) -> None:
    allowed = [option for option in inspect.signature(build).parameters if option != "files"]
    for option in options:
        if option not in allowed:
            raise DataError(f"{name} has no option {option!r}; {did_you_mean(option, allowed)}")
