"""Users' own files as data sets: arrays, tables, texts, folders of images or texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.data.factor import DeclaredKind
from unknot.data.given import given_like, with_given
from unknot.data.label_column import Classes, class_values, refuse_whole_floats
from unknot.data.readers.cells import read_cells_file
from unknot.data.readers.images import has_images, image_names, read_image_folder
from unknot.data.readers.npz import read_npz
from unknot.data.readers.picture_size import Size
from unknot.data.readers.read_options import ReadOptions, share_for_testing
from unknot.data.readers.resized import resized_pictures
from unknot.data.readers.table_files import is_table
from unknot.data.readers.tables import read_table
from unknot.data.readers.texts import has_texts, read_json_lines, read_text_folder, text_names
from unknot.errors import DataError

_SPREADSHEETS = {".xlsx", ".xlsm", ".xls", ".ods"}


def read_user_data(
    path: str | Path,
    *,
    factors: Sequence[str] | None = None,
    kinds: Mapping[str, DeclaredKind] | None = None,
    classes: Mapping[str, Classes] | None = None,
    raters: Mapping[str, Sequence[str]] | None = None,
    columns: Mapping[str, str] | None = None,
    text: Mapping[str, Any] | None = None,
    test_share: float = 0.0,
    seed: int = 0,
    like: Dataset | None = None,
    mapped: bool | None = None,
    size: Size = None,
    layer: str = "",
    unlabeled: Sequence[str] | None = None,
    given: Sequence[str] | str | None = None,
) -> Dataset:
    """Read a file or folder of the user.

    Parameters
    ----------
    path : str or Path
        One of

        - ``.npz``: ``x`` (N, ...), and one array of N labels for each factor; ``x_test`` and ``NAME_test`` are the
          test split;
        - ``.csv``, ``.tsv``, ``.parquet``, ``.feather``: a table with named columns. Empty cells are missing;
        - ``.h5ad``: cells of AnnData, with counts in ``X`` or a layer, and labels in columns of ``obs``;
        - ``.jsonl``: one object per line, with its text under "text" and labels beside it;
        - a folder: images (PNG, JPEG) or texts (.txt), and ``labels.csv`` with a column ``file`` and one for each
          factor, or a sub-folder for each class.
    factors : sequence of str, optional
        The names of the labels. In a table the other columns are data.
    kinds, classes : mapping, optional
        Kinds and classes of the labels, as in :func:`unknot.data.from_arrays`.
    raters : mapping from factor to sequence of str, optional
        The columns of a table that hold what the raters of a factor report.
    columns : mapping from column to kind, optional
        Kinds of a table's columns: real, binary, category or count; "leave out"; or "text", which is counted word by
        word. Text is also the only column beside the labels, if its cells are texts.
    text : mapping, optional
        How words are counted (:meth:`unknot.data.word_counter.WordCounter.learn`).
    test_share : float, default=0.0
        The share of the items to keep for testing, unless the data has a test split. Kinds, categories, classes and
        words are inferred from the other items alone.
    seed : int, default=0
        The seed of that choice.
    like : Dataset, optional
        Data whose classes, columns and words the new data share.
    mapped : bool, optional
        Whether items stay in a file until a batch needs them; images and compressed arrays are unpacked once into the
        cache. Default: items of more than 256 MB do.
    size : int, sequence of int or "original", optional
        The size at which pictures are read: pixels along the longest side, or height and width. Default: pictures of
        one size of at most 64 pixels are kept, and others get 32 along the longest side. "original" keeps all.
    layer : str, default=""
        The layer of an .h5ad file that holds the counts; "" is ``X``.
    unlabeled : sequence of str, optional
        Labels of an .h5ad file that stand for an unknown one, beside "Unknown" and missing ones.
    given : str or sequence of str, optional
        What is known of every item beside it and is not predicted, as its batch or its dose: columns, arrays or other
        entries, as labels are.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the file cannot be read, or does not fit ``like``.

    Examples
    --------
    >>> wine = read_user_data("wine.csv", factors=["kind"], test_share=0.2)  # doctest: +SKIP
    """
    known_kinds, known_classes = _known(like)
    names = None if factors is None else [factors] if isinstance(factors, str) else list(factors)
    beside = [given] if isinstance(given, str) else list(given or ())
    if beside and (names is not None or is_table(Path(path)) or Path(path).suffix.lower() == ".h5ad"):
        names = [*(names or ()), *(name for name in beside if name not in (names or ()))]
    split = share_for_testing(test_share, seed)
    options = ReadOptions(
        factors=names,
        kinds=known_kinds | dict(kinds or {}),
        classes=known_classes | dict(classes or {}),
        raters=raters or {},
        columns=columns or {},
        text=text,
        like=like,
        split=split,
        mapped=mapped,
        size=size,
        layer=layer,
        unlabeled=(unlabeled,) if isinstance(unlabeled, str) else tuple(unlabeled or ()),
    )
    data = _read(Path(path), options)[0]
    return with_given(data, beside) if like is None else data


def read_new_data(
    path: str | Path, like: Dataset, errors: str = "warn"
) -> tuple[Dataset, dict[str, Sequence[Any]]]:
    """Read data to be predicted by a trained model, with what identifies each item.

    Parameters
    ----------
    path : str or Path
        A file or folder, as for :func:`read_user_data`.
    like : Dataset
        The data that the model was trained on.
    errors : {"warn", "raise"}, default="warn"
        In a table, "warn" reads unknown categories as missing and notes rows with cells that cannot be read
        (``Dataset.odd_rows``); "raise" refuses both.

    Returns
    -------
    data : Dataset
        Of the classes, columns and words of ``like``.
    identity : dict from name to sequence
        For each item the name of its file or cell, or its row and the cells of a table's other columns.
    """
    kinds, classes = _known(like)
    return _read(
        Path(path), ReadOptions(kinds=kinds, classes=classes, like=like, errors=errors), with_others=True
    )


def _known(like: Dataset | None) -> tuple[dict[str, DeclaredKind], dict[str, Classes]]:
    """Return the kinds and the classes of the factors of known data."""
    if like is None:
        return {}, {}
    classes: dict[str, Classes] = {
        name: f.tree or class_values(f.classes) for name, f in like.factors.items() if f.classes
    }
    return {name: factor.kind for name, factor in {**like.factors, **like.given}.items()}, classes


def _read(
    path: Path, options: ReadOptions, with_others: bool = False
) -> tuple[Dataset, dict[str, Sequence[Any]]]:
    """Read by the kind of file; return the data and what identifies the items."""
    identity: dict[str, Sequence[Any]] = {}
    if path.is_dir() and has_texts(path) and not has_images(path):
        data: Dataset = read_text_folder(path, options)
        identity = {"file": text_names(path)}
    elif path.is_dir():
        data = read_image_folder(path, options)
        identity = {"file": image_names(path)}
    elif path.suffix.lower() == ".npz":
        data = resized_pictures(read_npz(path, options), options)
    elif path.suffix.lower() == ".jsonl":
        data = read_json_lines(path, options)
    elif path.suffix.lower() == ".h5ad":
        cells: CellDataset = read_cells_file(path, options)
        data, identity = cells, {"cell": cells.cells}
    elif is_table(path):
        data, others = read_table(path, options, with_others)
        identity = {"row": data.ids.tolist(), **others}
    elif not path.exists():
        raise DataError(f"there is no file or folder {path}.")
    elif path.suffix.lower() in _SPREADSHEETS:
        raise DataError(
            f"{path} is a spreadsheet; expected a .csv table, which this makes of its first sheet: python -c "
            f'"import pandas; pandas.read_excel({str(path)!r}).to_csv({str(path.with_suffix(".csv"))!r}, '
            'index=False)".'
        )
    else:
        raise DataError(
            f"{path}: expected an .npz file, a table (.csv, .tsv, .parquet, .feather), texts as .jsonl, cells as "
            ".h5ad, or a folder of images or texts; of other files make one of these, or a frame for StructuredVAE in "
            "Python."
        )
    for name in data.factors.keys() - options.kinds.keys():
        refuse_whole_floats(data.factors[name])
    like = options.like
    if like is not None and data.item_shape != like.item_shape:
        raise DataError(
            f"{path}: its items have shape {tuple(data.item_shape)}, but {tuple(like.item_shape)} is needed."
        )
    if like is not None and like.given:
        data = given_like(data, like)
    return data, identity or {"row": data.ids.tolist()}
