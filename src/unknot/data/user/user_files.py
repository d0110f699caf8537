"""Users' own files as data sets: arrays (.npz), tables (.csv), texts (.jsonl), folders of images or texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unknot.data.dataset import Dataset
from unknot.data.factor import Kind
from unknot.data.files.broken_file import READER_ERRORS
from unknot.data.files.npz_arrays import open_npz
from unknot.data.files.special_file import refuse_special_file
from unknot.data.from_arrays import from_arrays
from unknot.data.label_column import class_values, refuse_whole_floats
from unknot.data.stored_items import StoredItems
from unknot.data.user.csv_rows import is_table
from unknot.data.user.csv_table import read_csv_table
from unknot.data.user.image_folder import has_images, read_image_folder
from unknot.data.user.in_a_file import stays_in_file
from unknot.data.user.json_lines import read_json_lines
from unknot.data.user.label_cells import wanted_names
from unknot.data.user.mapped_npz import array_bytes, mapped_array
from unknot.data.user.splitting import share_for_testing
from unknot.data.user.text_column import read_text_column, text_column
from unknot.data.user.text_folder import has_texts, read_text_folder
from unknot.data.user.wanted import Wanted
from unknot.errors import DataError

_TYPES = {
    "U": "words",
    "S": "words",
    "i": "whole numbers",
    "u": "whole numbers",
    "f": "numbers",
    "b": "bools",
}


def read_user_data(
    path: str | Path,
    *,
    factors: Sequence[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    classes: Mapping[str, Sequence[Any]] | None = None,
    columns: Mapping[str, str] | None = None,
    text: Mapping[str, Any] | None = None,
    test_share: float = 0.0,
    seed: int = 0,
    like: Dataset | None = None,
    mapped: bool | None = None,
) -> Dataset:
    """Read a file or folder, by its kind.

    - ``.npz``: ``x`` (N, ...), and one array of N labels for each factor; ``x_test`` and ``NAME_test`` are the
      test split.
    - ``.csv``, ``.tsv``: a table with a header. ``factors`` names the columns that are labels, the others are data;
      empty cells are missing. ``columns`` may say a column's kind: real, binary, category or count; or "leave out". A
      column of "text", declared or the only one beside the labels, is counted word by word.
    - ``.jsonl``: an object a line, its text under "text"; ``factors`` names the labels beside it.
    - a folder: images of one size (PNG, JPEG) or texts (.txt), and ``labels.csv`` with a column ``file`` and one for
      each factor, or a sub-folder for each class.

    ``kinds`` and ``classes`` are those of :func:`unknot.data.from_arrays`; ``text`` says how words are counted
    (:meth:`unknot.data.word_counter.WordCounter.learn`). ``test_share`` keeps a part of the items
    for testing, chosen by ``seed``, unless the data has a test split; kinds, categories, classes and words are told by
    the other items alone. ``like`` is a data set whose classes and columns the new one must share. ``mapped`` says
    whether items stay in a file until a batch needs them, images and packed arrays unpacked once into the cache; left
    out, those of more than 256 MB do.
    """
    path = Path(path)
    if like is not None:
        known = {name: class_values(f.classes) for name, f in like.factors.items() if f.classes}
        classes = known | dict(classes or {})
        kinds = {name: f.kind for name, f in like.factors.items()} | dict(kinds or {})
    names = None if factors is None else [factors] if isinstance(factors, str) else list(factors)
    split = share_for_testing(test_share, seed)
    wanted = Wanted(names, kinds or {}, classes or {}, columns or {}, text, like, split, mapped)
    if path.is_dir() and has_texts(path) and not has_images(path):
        data: Dataset = read_text_folder(path, wanted)
    elif path.is_dir():
        data = read_image_folder(path, wanted)
    elif path.suffix.lower() == ".npz":
        data = _read_npz(path, wanted)
    elif path.suffix.lower() == ".jsonl":
        data = read_json_lines(path, wanted)
    elif is_table(path) and (column := text_column(path, names, columns, like)) is not None:
        data = read_text_column(path, column, wanted)
    elif is_table(path):
        data = read_csv_table(path, wanted)
    elif not path.exists():
        raise DataError(f"there is no file or folder {path}.")
    else:
        raise DataError(
            f"{path}: expected an .npz file, a .csv table, texts as .jsonl, or a folder of images or texts; of other "
            "files make one of these, or a frame for StructuredVAE in Python."
        )
    for name in data.factors.keys() - wanted.kinds.keys():
        refuse_whole_floats(data.factors[name])
    if like is not None and data.item_shape != like.item_shape:
        raise DataError(
            f"{path}: its items have shape {tuple(data.item_shape)}, but {tuple(like.item_shape)} is needed."
        )
    return data


def _read_npz(path: Path, wanted: Wanted) -> Dataset:
    arrays = _load_arrays(path, wanted.mapped)
    if "x" not in arrays:
        raise DataError(
            f"{path}: needs an array 'x' with one row per item; it has {', '.join(arrays) or 'none'}."
        )
    there = [n for n in arrays if n != "x" and not n.endswith("_test")]
    names = wanted_names(path, there, wanted.factors, wanted.like)
    _check_items(path, arrays["x"])
    x, labels = arrays["x"], {name: arrays[name] for name in names}
    parts = [x]
    splits: Mapping[str, Any] = {}
    if "x_test" in arrays:
        tested = arrays["x_test"]
        _check_items(path, tested)
        if (tested.dtype == np.uint8) != (x.dtype == np.uint8):
            raise DataError(
                f"{path}: x holds {x.dtype} and x_test {tested.dtype}; uint8 are pixels from 0 to 255, "
                "floats are not, so both must be of one type."
            )
        if tested.shape[1:] != x.shape[1:]:
            raise DataError(f"{path}: x has items of shape {x.shape[1:]}, but x_test of {tested.shape[1:]}.")
        for name in names:
            if f"{name}_test" not in arrays:
                raise DataError(f"{path}: there is x_test, but no {name}_test with its labels.")
            labels[name] = _both(path, name, labels[name], arrays[f"{name}_test"])
        splits = {"train": np.arange(len(x)), "test": np.arange(len(x), len(x) + len(tested))}
        parts.append(tested)
    splits = splits or wanted.split(len(x))
    kinds, classes = wanted.kinds_of(labels), wanted.classes_of(labels)
    items = _joined(path, parts)
    return from_arrays(items, labels, kinds=kinds, classes=classes, splits=splits, name=path.stem)


def _joined(path: Path, parts: Sequence[np.ndarray]) -> np.ndarray | StoredItems:
    """Items for training and for testing, one behind the other."""
    if not isinstance(parts[0], np.memmap):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    if len({part.dtype for part in parts}) > 1:
        raise DataError(
            f"{path}: x holds {parts[0].dtype} and x_test {parts[1].dtype}; save both in one type."
        )
    return StoredItems(parts, where=str(path))


def _both(path: Path, name: str, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Labels for training and for testing in one array, of the type that training labels have.

    Numbers in whole numbers' place, and words beside numbers, are refused: joined they would be another kind.
    """
    types = [_TYPES.get(array.dtype.kind, array.dtype.kind) for array in (train, test)]
    fits = types[0] == types[1] or (types[0] == "numbers" and types[1] in ("whole numbers", "bools"))
    if not fits or train.shape[1:] != test.shape[1:] or not train.ndim:
        raise DataError(
            f"{path}: {name} holds {train.dtype} of shape {train.shape} and {name}_test {test.dtype} of shape "
            f"{test.shape}; both must be labels of one kind."
        )
    return np.concatenate([train, test])


def _check_items(path: Path, x: np.ndarray) -> None:
    if x.ndim == 0 or len(x) == 0:
        raise DataError(f"{path} is empty: its x has no rows.")
    if x.dtype.kind not in "buif":
        raise DataError(f"{path}: x holds {x.dtype} values, expected numbers.")


def _load_arrays(path: Path, mapped: bool | None) -> dict[str, np.ndarray]:
    """The arrays by name; items that are many stay in their file."""
    refuse_special_file(path)
    try:
        with open_npz(path) as content:
            items = [name for name in ("x", "x_test") if name in content.files]
            stored = stays_in_file(sum(array_bytes(path, name) for name in items), mapped)
            kept = items if stored else []
            return {
                name: mapped_array(path, name) if name in kept else content[name] for name in content.files
            }
    except FileNotFoundError:
        raise DataError(f"there is no file {path}.") from None
    except MemoryError:
        raise DataError(f"{path} says that it holds arrays larger than the memory; is it whole?") from None
    except READER_ERRORS as error:
        reason = "it holds Python objects, not arrays" if "allow_pickle" in str(error) else str(error)
        raise DataError(f"{path} cannot be read as an .npz file: {' '.join(reason.split())}.") from None
