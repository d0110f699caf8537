"""AnnData as a data set: counts by blocks of rows, never dense, and labels from ``obs``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from unknot.data.cell_dataset import CellDataset, GeneMap, totals
from unknot.data.dataset import training_rows
from unknot.data.files.broken_file import READER_ERRORS
from unknot.data.label_column import read_factor
from unknot.data.readers.labels import factor_names
from unknot.data.readers.read_options import ReadOptions
from unknot.data.sparse_counts import SparseCounts
from unknot.errors import DataError, UnknotWarning
from unknot.files import explaining
from unknot.missing import missing_entries
from unknot.suggest import did_you_mean

UNLABELED = ("Unknown", "unknown")  # labels that always stand for an unknown one, as in scvi-tools' tutorials
_NUMBERS = 1 << 22  # that are read together


def is_cells(x: Any) -> bool:
    """Return whether x is an AnnData object, without importing anndata."""
    anndata = sys.modules.get("anndata")
    return anndata is not None and isinstance(x, anndata.AnnData)


def read_cells_file(path: Path, options: ReadOptions) -> CellDataset:
    """Read an .h5ad file; the labels are columns of ``obs``.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        Which columns of ``obs`` are labels, and how they are read.

    Returns
    -------
    CellDataset
    """
    adata = open_cells(path)
    try:
        names = factor_names(path, list(adata.obs.columns), options.named_factors, options.like)
        if options.errors and options.like is not None:  # of new data to predict labels are no matter
            names = [name for name in names if name in options.like.given]
        return read_cells(adata, names, options, str(path), path.stem)
    finally:
        if adata.file is not None:
            adata.file.close()


def open_cells(path: Path) -> Any:
    """Open an .h5ad file as a backed AnnData object."""
    try:
        import anndata
    except ImportError:
        raise DataError(
            f"{path}: .h5ad files are read by anndata; install it: pip install 'unknot[cells]'."
        ) from None
    if not path.is_file():
        raise DataError(f"there is no file {path}.")
    with _explained(str(path)):
        return anndata.read_h5ad(path, backed="r")


@contextmanager
def copy_of_cells(path: Path, output: Path) -> Iterator[Any]:
    """Give the cells of an .h5ad file in memory, to be changed, then write them to another file."""
    import anndata

    with _explained(str(path)):
        adata = anndata.read_h5ad(path)
    yield adata
    for frame in (adata.obs, adata.var):
        _plain_words(frame)
    with explaining(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=output.parent) as folder:  # HDF5 locks its file, and appears whole
            part = Path(folder, output.name)
            adata.write_h5ad(part)
            part.replace(output)


def _plain_words(frame: Any) -> None:
    """Make the words of a frame plain objects: anndata 0.12 cannot write the strings of pandas 3."""
    frame.index = frame.index.astype(object)
    for name, column in frame.items():
        if column.dtype.kind == "O" and column.dtype == "category":
            frame[name] = column.cat.rename_categories(column.cat.categories.astype(object))
        elif column.dtype == "str":
            frame[name] = column.astype(object)


def read_cells(
    adata: Any, labels: Sequence[str], options: ReadOptions, where: str = "adata", name: str = "cells"
) -> CellDataset:
    """Read an AnnData object, in memory or backed.

    Parameters
    ----------
    adata : AnnData
        The cells.
    labels : sequence of str
        Columns of ``obs``.
    options : ReadOptions
        How labels are read. With ``like`` genes are put into the order of the training data
        (:class:`unknot.data.cell_dataset.GeneMap`), and cells without counts are odd rows.
    where : str
        The beginning of messages.
    name : str
        The name of the data.

    Returns
    -------
    CellDataset
    """
    like = options.like
    if like is not None and not isinstance(like, CellDataset):
        raise DataError(
            f"{where} holds cells, but the model was trained on items of shape {tuple(like.item_shape)}."
        )
    layer = options.layer if like is None else like.layer
    unlabeled = options.unlabeled if like is None else like.unlabeled
    genes, size = _genes(adata, where), adata.n_obs
    if not size:
        raise DataError(f"{where} has no cells.")
    order = None if like is None else GeneMap(genes, like, where)
    columns = tuple(genes) if like is None else like.columns
    counts, whole = _counts(adata, layer, order, len(columns), where)
    splits = options.split(size)
    training = training_rows(splits, size)
    factors = {}
    for label in labels:
        values = obs_labels(adata, label, (*UNLABELED, *unlabeled), where)
        kind, classes = options.kinds.get(label), options.classes.get(label)
        factors[label] = read_factor(label, values, size, kind, classes, training)
    data = CellDataset(
        name,
        counts,
        torch.arange(size),
        factors,
        splits,
        columns=columns,
        cells=tuple(map(str, adata.obs_names)),
        layer=layer,
        unlabeled=tuple(unlabeled),
        shares=() if like is None else like.shares,
        missing=() if order is None else order.missing,
        are_counts=whole,
    )
    empty = (totals(counts) == 0).nonzero()[:, 0].tolist()
    if not empty:
        return data.with_shares() if like is None else data
    if like is None or options.errors == "raise":
        raise DataError(
            f"{where}: {len(empty)} cells have no counts, the first is {data.cells[empty[0]]} (row {empty[0]}); leave "
            "them out, for instance by scanpy.pp.filter_cells(adata, min_counts=1)."
        )
    warnings.warn(
        f"{where}: {len(empty)} cells have no counts, the first is row {empty[0]}; they have no prediction.",
        UnknotWarning,
        stacklevel=2,
    )
    return replace(data, odd_rows=tuple(empty))


def obs_labels(adata: Any, name: str, unlabeled: Iterable[str], where: str = "adata") -> Any:
    """Return a column of ``obs`` as an array, None for missing labels and for those that mean an unknown one."""
    if name not in adata.obs.columns:
        there = [str(column) for column in adata.obs.columns]
        raise DataError(f"{where}: obs has no column '{name}'; {did_you_mean(name, there)}")
    column = adata.obs[name]
    if column.dtype.kind in "biuf":
        return column.to_numpy()
    values = np.array(column.astype(object), dtype=object)
    values[missing_entries(values) | np.isin(values.astype(str), list(unlabeled))] = None
    return values


# ---- counts --------------------------------------------------------------------------------------------


def _genes(adata: Any, where: str) -> list[str]:
    genes = [str(gene) for gene in adata.var_names]
    if not genes:
        raise DataError(f"{where} has no genes.")
    if len(set(genes)) < len(genes):
        seen: set[str] = set()
        double = next(gene for gene in genes if gene in seen or seen.add(gene))  # type: ignore[func-returns-value]
        raise DataError(
            f"{where}: the gene name '{double}' occurs more than once; make names unique first: "
            "adata.var_names_make_unique()."
        )
    return genes


def _counts(
    adata: Any, layer: str, order: GeneMap | None, genes: int, where: str
) -> tuple[SparseCounts, bool]:
    """Read the counts block by block; return them and whether the numbers that were read are whole."""
    if layer and layer not in adata.layers:
        there = [str(one) for one in adata.layers]
        raise DataError(
            f"{where} has no layer '{layer}'; {did_you_mean(layer, there) if there else 'it has none.'}"
        )
    what = f"{where}, layer '{layer}'" if layer else f"{where}, X"
    with _explained(where):
        matrix = adata.layers[layer] if layer else adata.X
    if matrix is None:
        raise DataError(f"{where} has no X; name the layer with the counts: layer='counts'.")
    sizes, columns, values = [], [], []
    fractions = False
    with _explained(where):
        for rows in _row_blocks(matrix, adata.n_vars):
            fractions = fractions or not _check_block(rows, what)
            rows = rows if order is None else order(rows)
            sizes.append(np.diff(rows.indptr))
            columns.append(rows.indices.astype(np.int32))
            values.append(_small(rows.data))
    if fractions:
        warnings.warn(
            f"{what} holds fractions, so it is not counts; models of counts need them: name the layer that has them, "
            f"layer='counts'{_raw_hint(adata)}. The numbers are used as they are.",
            UnknotWarning,
            stacklevel=3,
        )
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes), dtype=np.int64)])
    words = torch.from_numpy(_joined(columns))
    counts = SparseCounts(torch.from_numpy(offsets), words, torch.from_numpy(_joined(values)), genes)
    return counts, not fractions


def _check_block(rows: Any, what: str) -> bool:
    """Return whether the numbers are whole; refuse negative and infinite ones."""
    if not rows.nnz:
        return True
    low, high = float(rows.data.min()), float(rows.data.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise DataError(f"{what} holds NaN or infinity; expected counts.")
    if high > np.iinfo(np.int32).max:
        raise DataError(f"{what} holds {high:g}, but counts are less than 2^31.")
    if low < 0:
        raise DataError(
            f"{what} holds {low:g}, so it is neither counts nor their logarithms; name the layer with the counts: "
            "layer='counts'."
        )
    return rows.data.dtype.kind in "biu" or bool((rows.data == np.round(rows.data)).all())


def _small(values: np.ndarray) -> np.ndarray:
    """Return whole numbers in the smallest type of int16 and int32 that holds them, others as float32."""
    if values.dtype.kind == "f" and not (values == np.round(values)).all():
        return values.astype(np.float32)
    return values.astype(np.int16 if values.max(initial=0) <= np.iinfo(np.int16).max else np.int32)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """Return arrays one after the other, in the largest of their types; each is freed when it has been copied."""
    made = np.empty(sum(len(part) for part in parts), dtype=np.result_type(*{part.dtype for part in parts}))
    start = 0
    while parts:
        part = parts.pop(0)
        made[start : start + len(part)] = part
        start += len(part)
    return made


def _row_blocks(matrix: Any, genes: int) -> Iterator[Any]:
    """Yield blocks of rows as CSR matrices of scipy without zeros, whatever the matrix is."""
    from scipy import sparse

    is_backed = hasattr(matrix, "group")  # a sparse matrix in a file
    if is_backed and matrix.format == "csr":
        yield from _stored_rows(matrix.group, genes)
        return
    if is_backed:
        matrix = matrix.to_memory()
    if sparse.issparse(matrix) and matrix.format != "csr":
        matrix = matrix.tocsr()
    count = matrix.shape[0]
    for start in range(0, count, step := max(1, _NUMBERS // genes)):
        rows = sparse.csr_matrix(matrix[start : min(start + step, count)])
        rows.sum_duplicates()
        rows.eliminate_zeros()
        yield rows


def _stored_rows(group: Any, genes: int) -> Iterator[Any]:
    """Yield the rows of a CSR matrix in an HDF5 group, some millions of entries at a time."""
    from scipy import sparse

    offsets = np.asarray(group["indptr"][:], dtype=np.int64)
    start = 0
    while start < len(offsets) - 1:
        stop = int(np.searchsorted(offsets, offsets[start] + _NUMBERS, side="right")) - 1
        stop = min(max(stop, start + 1), len(offsets) - 1)
        entries = slice(offsets[start], offsets[stop])
        parts = (
            group["data"][entries],
            group["indices"][entries],
            offsets[start : stop + 1] - offsets[start],
        )
        rows = sparse.csr_matrix(parts, shape=(stop - start, genes))
        rows.sum_duplicates()
        rows.eliminate_zeros()
        yield rows
        start = stop


def _raw_hint(adata: Any) -> str:
    layers = ", ".join(str(one) for one in adata.layers)
    raw = "adata.raw.to_adata()" if adata.raw is not None else ""
    found = " or ".join(part for part in (f"the layers are {layers}" if layers else "", raw) if part)
    return f" ({found})" if found else ""


@contextmanager
def _explained(where: str) -> Iterator[None]:
    """Turn errors of a backed file that is broken or gone into one sentence."""
    try:
        yield
    except DataError:
        raise
    except (*READER_ERRORS, RuntimeError) as error:
        reason = " ".join(str(error).split()).strip("'\". ") or type(error).__name__
        raise DataError(
            f"{where} cannot be read as AnnData ({reason}); is the .h5ad file still there and whole?"
        ) from error


def labels_by_name(adata: Any, labels: Mapping[str, Any], unlabeled: Iterable[str]) -> dict[str, Any]:
    """Return the labels of a call, ``label="cell_type"`` as a column of ``obs``, others as given."""
    made: dict[str, Any] = {}
    for key, value in labels.items():
        if key == "label" and isinstance(value, str):
            made[value] = obs_labels(adata, value, (*UNLABELED, *unlabeled))
        else:
            made[key] = value
    return made
