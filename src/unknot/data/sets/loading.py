"""``load`` and ``names``: the data sets of the catalogue, by name."""

from __future__ import annotations

import inspect
import logging
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

_LOGGER = logging.getLogger("unknot.data")


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
    """Return the names of the data sets."""
    return tuple(_CATALOGUE)


def entries() -> tuple[Entry, ...]:
    """Return the entries of the catalogue."""
    return tuple(part.entry for part in _CATALOGUE.values())


def entry(name: str) -> Entry:
    """Return the entry of one data set."""
    return _look_up(name).entry


def load(name: str, data_dir: str | Path | None = None, download: bool = True, **options: Any) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    data_dir : str or Path, optional
        The folder with the user's own data files, which is searched first; default: the variable UNKNOT_DATA. The cache
        comes next.
    download : bool, default=True
        Whether to fetch missing files into the cache.
    **options
        Options of the data set, see docs/data.md.

    Returns
    -------
    Dataset

    Notes
    -----
    The logger ``unknot.data`` says at level DEBUG which data were loaded, with their fingerprint.

    Examples
    --------
    >>> load("digits").split("train").item_shape
    torch.Size([1, 8, 8])
    >>> faces = load("yale-b", max_angle=85)  # doctest: +SKIP
    """
    chosen = _look_up(name)
    _check_options(name, chosen.build, options)
    if chosen.entry.forms:
        data = chosen.build(find(chosen.entry, data_dir, download, others=entries()), **options)
    else:
        data = chosen.build(**options)
    if _LOGGER.isEnabledFor(logging.DEBUG):
        shown = ", ".join(f"{key}={value}" for key, value in sorted(options.items()))
        _LOGGER.debug("loaded %s, fingerprint %s", f"{name} ({shown})" if shown else name, data.fingerprint())
    return data


def _look_up(name: str) -> _Set:
    if name not in _CATALOGUE:
        raise DataError(f"There is no data set named {name!r}; {did_you_mean(name, _CATALOGUE)}")
    return _CATALOGUE[name]


def _check_options(name: str, build: Callable[..., Dataset], options: dict[str, Any]) -> None:
    allowed = [option for option in inspect.signature(build).parameters if option != "files"]
    for option in options:
        if option not in allowed:
            raise DataError(f"{name} has no option {option!r}; {did_you_mean(option, allowed)}")
