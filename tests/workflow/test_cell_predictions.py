"""Predictions in AnnData: written where asked, to be read again; the user's file stays as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cells import small_cells
from tests.cli.running import run
from unknot import StructuredVAE
from unknot.errors import UnknotWarning


def test_annotate_writes_obs_obsm_and_uns(tmp_path: Path) -> None:
    import anndata

    adata = small_cells()
    truth = adata.obs["kind"].astype(str).to_numpy()
    labels = adata.obs["kind"].astype(object)
    labels.iloc[36:] = "Unknown"
    adata.obs["kind"] = labels
    model = StructuredVAE(steps=60, verbose=False, verdict=False).fit(adata, label="kind")
    assert model.trained_.source.default is not None
    assert model.trained_.source.default.name == "cells"
    query = small_cells(seed=1)[:, ::-1][:, 1:].copy()
    query.X = query.X.multiply((np.arange(60) != 3)[:, None]).tocsr()
    with pytest.warns(UnknotWarning):
        model.annotate(query)
    known = np.arange(60) != 3
    predicted = query.obs["kind_predicted"].astype(object).to_numpy()
    assert (predicted[known] == truth[known]).mean() > 0.8
    assert query.obs["kind_predicted"].isna().to_numpy().nonzero()[0].tolist() == [3]
    assert query.obsm["X_unknot"].shape[0] == 60
    assert query.uns["unknot"]["missing_genes"] == ["gene 23"]
    assert query.uns["unknot"]["trained_labels"] == {"kind": 36}
    sets = query.obs["kind_set"].str.split("|")
    assert all(a in b for a, b in zip(predicted[known], sets[known], strict=True))
    query.write_h5ad(tmp_path / "new.h5ad")
    again = anndata.read_h5ad(tmp_path / "new.h5ad")
    assert again.obs["kind_predicted"].astype(object)[known].tolist() == predicted[known].tolist()
    assert again.uns["unknot"]["model"] == "cells"
    model.save(tmp_path / "model")
    loaded = StructuredVAE.load(tmp_path / "model")
    with pytest.warns(UnknotWarning):
        assert (loaded.predict(query)[known] == predicted[known]).all()


def test_another_fit_has_the_same_bits() -> None:
    adata, models = small_cells(), []
    for _ in range(2):
        vae = StructuredVAE(steps=5, verbose=False, verdict=False)
        models.append(vae.fit(adata, label="kind").predict_proba(adata))
    assert np.array_equal(*models)


def test_labels_may_be_coarse() -> None:
    adata = small_cells()
    truth = adata.obs["kind"].astype(str).to_numpy()
    labels = adata.obs["kind"].astype(object)
    labels.iloc[24:48] = np.where(truth[24:48] == "type 2", "type 2", "first two")
    labels.iloc[48:] = "Unknown"
    adata.obs["kind"] = labels
    tree = {"kind": {"first two": ["type 0", "type 1"], "others": ["type 2"]}}
    vae = StructuredVAE(classes=tree, steps=60, verbose=False, verdict=False).fit(adata, label="kind")
    assert vae.classes_["kind"] == ["type 0", "type 1", "type 2"]
    assert (vae.predict(adata)[48:] == truth[48:]).mean() > 0.8


def test_the_commands_read_and_write_files_of_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import anndata

    cells, folder, new = tmp_path / "cells.h5ad", tmp_path / "run", tmp_path / "new.h5ad"
    small_cells(layer="counts").write_h5ad(cells)
    before = cells.read_bytes()
    options = ["--set", "data.layer=counts", "--set", "train.steps=20", "--no-verdict"]
    assert run(capsys, "fit", cells, "--label", "kind", *options, "-o", folder)[0] == 0
    code, out, _ = run(capsys, "predict", folder, cells, "-o", new)
    assert (code, "Wrote 60 rows" in out) == (0, True)
    assert run(capsys, "predict", folder, cells, "-o", tmp_path / "new.csv")[0] == 0
    assert {"kind_predicted", "kind_probability"} <= set(anndata.read_h5ad(new).obs.columns)
    assert (tmp_path / "new.csv").read_text().startswith("cell,kind,kind probability")
    assert cells.read_bytes() == before
