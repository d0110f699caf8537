"""AnnData: counts stay sparse, from memory and from files; labels from obs; what is wrong is said in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.cells import small_cells
from unknot.data.cell_dataset import CellDataset
from unknot.data.readers.cells import is_cells, read_cells
from unknot.data.readers.read_options import ReadOptions
from unknot.data.readers.user_files import read_new_data, read_user_data
from unknot.data.sparse_counts import SparseCounts
from unknot.errors import DataError, UnknotWarning


def read(adata: Any, labels: tuple[str, ...] = (), **options: Any) -> CellDataset:
    return read_cells(adata, labels, ReadOptions(**options))


@pytest.mark.parametrize("form", ["csr", "csc", "dense", "integers", "view"])
def test_counts_are_the_same_in_every_form(form: str) -> None:
    adata = small_cells()
    truth = adata.X.toarray()
    if form == "view":
        adata, truth = adata[::2], truth[::2]
    else:
        make = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix, "dense": np.asarray}
        adata.X = make.get(form, lambda x: sparse.csr_matrix(x.astype(np.int64)))(truth)
    data = read(adata)
    assert isinstance(data.x, SparseCounts)
    assert np.array_equal(data.x[:].numpy(), truth)
    assert data.columns[:2] == ("gene 0", "gene 1")
    assert data.are_counts


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_matrix, np.asarray])
def test_backed_cells_are_read_like_those_in_memory(tmp_path: Path, form: Any) -> None:
    import anndata

    adata = small_cells()
    truth = adata.X.toarray()
    adata.X = form(truth)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    assert is_cells(backed)
    assert np.array_equal(read(backed).x[:].numpy(), truth)
    backed.file.close()
    (tmp_path / "cells.h5ad").unlink()
    with pytest.raises(DataError, match="cannot be read as AnnData"):
        read(backed)


def test_a_file_has_labels_names_and_a_test_split(tmp_path: Path) -> None:
    small_cells().write_h5ad(tmp_path / "cells.h5ad")
    data = read_user_data(tmp_path / "cells.h5ad", factors=["kind"], test_share=0.25)
    assert isinstance(data, CellDataset)
    assert data.factor("kind").classes == ("type 0", "type 1", "type 2")
    train = data.split("train")
    assert isinstance(train, CellDataset)
    assert train.cells[0] == data.cells[int(data.splits["train"][0])]
    per_cell = train.x[:].double() / train.x[:].sum(1, keepdim=True)
    assert np.allclose(data.shares, per_cell.mean(0), rtol=1e-5)
    new, identity = read_new_data(tmp_path / "cells.h5ad", data)
    assert identity["cell"][0] == "cell 0"
    assert new.columns == data.columns


def test_unknown_labels_are_missing() -> None:
    adata = small_cells()
    labels = adata.obs["kind"].astype(object)
    labels.iloc[:4] = ["Unknown", None, np.nan, "doublet"]
    adata.obs["kind"] = labels
    values = read(adata, ("kind",), unlabeled=("doublet",)).factor("kind")
    assert values.classes == ("type 0", "type 1", "type 2")
    assert values.values[:5].tolist() == [-1, -1, -1, -1, 1]


def test_a_layer_is_read_and_fractions_are_warned_of() -> None:
    adata = small_cells(layer="counts")
    assert read(adata, layer="counts").are_counts
    with pytest.warns(UnknotWarning, match=r"X holds fractions.*layer='counts' \(the layers are counts\)"):
        data = read(adata)
    assert not data.are_counts
    assert np.allclose(data.x[:].numpy(), adata.X.toarray())


def test_genes_are_matched_by_name_and_missing_ones_are_expected() -> None:
    known, query = read(small_cells()), small_cells(seed=1)
    shuffled = query[:, np.random.default_rng(2).permutation(24)]
    assert np.array_equal(read(shuffled, like=known).x[:], read(query, like=known).x[:])
    with pytest.warns(UnknotWarning, match=r"2 of the 24 genes of the model are missing \(gene 3, gene 7\)"):
        fewer = read(query[:, [g not in (3, 7) for g in range(24)]], like=known)
    assert fewer.missing == ("gene 3", "gene 7")
    rows, shares = fewer.x[:].double().numpy(), np.array(known.shares)
    total = np.delete(rows, [3, 7], 1).sum(1)
    assert np.allclose(rows[:, 3], total * shares[3] / (1 - shares[[3, 7]].sum()), rtol=1e-5)
    query.var_names = [f"other {i}" for i in range(24)]
    with pytest.raises(DataError, match=r"none of its genes \(other 0, .*same kind of names"):
        read(query, like=known)


def test_cells_without_counts_are_refused_in_training_and_odd_later() -> None:
    adata, known = small_cells(), read(small_cells())
    adata.X = adata.X.multiply((np.arange(60) != 5)[:, None]).tocsr()
    with pytest.raises(
        DataError, match=r"1 cells have no counts, the first is cell 5 \(row 5\).*filter_cells"
    ):
        read(adata)
    with pytest.warns(UnknotWarning, match="no prediction"):
        assert read(adata, like=known, errors="warn").odd_rows == (5,)


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    adata = small_cells()
    with pytest.raises(DataError, match="obs has no column 'kinds'; did you mean 'kind'"):
        read(adata, ("kinds",))
    with pytest.raises(DataError, match="has no layer 'counts'"):
        read(adata, layer="counts")
    adata.X = adata.X - 1 * sparse.csr_matrix(np.ones(adata.shape, dtype=np.float32))
    with pytest.raises(DataError, match="X holds -1, so it is neither counts"):
        read(adata)
    double = small_cells()
    double.var_names = ["a"] * 24
    with pytest.raises(DataError, match=r"'a' occurs more than once.*var_names_make_unique"):
        read(double)
    (tmp_path / "broken.h5ad").write_bytes(b"no HDF5")
    with pytest.raises(DataError, match=r"broken\.h5ad cannot be read as AnnData"):
        read_user_data(tmp_path / "broken.h5ad")
    with pytest.raises(DataError, match="there is no file"):
        read_user_data(tmp_path / "gone.h5ad")
