"""What changes with a factor, against varying by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from tests.report.tables import DATA, SIZE, X, model
from unknot.data.readers.user_files import read_user_data
from unknot.report.tables import imputation, moved_columns, typical_rows
from unknot.workflow.assembly import assemble


def test_shifts_are_means_over_varied_rows_in_standard_deviations() -> None:
    one = model()
    kind, size = moved_columns(one, DATA)
    assert (kind.title, size.title) == ("What changes with kind", "What changes with size")
    assert kind.figure is not None
    axes = kind.figure.axes[0]
    varied = one.vary(X, "kind", torch.arange(2)).numpy().mean(0)[:, :2]  # numbers alone
    apart = (varied - varied.mean(0)) / X[:, :2].numpy().std(0)
    names = [text.get_text() for text in axes.get_yticklabels()]
    shown = axes.images[0].get_array()
    for i, name in enumerate(["age", "weight"]):
        np.testing.assert_allclose(shown[names.index(name)], apart[:, i], rtol=1e-4, atol=1e-5)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["ill", "well"]


def test_numbers_are_set_to_quantiles_of_their_labels() -> None:
    _, size = moved_columns(model(), DATA)
    assert size.figure is not None
    marks = [text.get_text() for text in size.figure.axes[0].get_xticklabels()]
    assert marks == [f"{np.quantile(SIZE.numpy(), q):.3g}" for q in (0.1, 0.5, 0.9)]


# ---- Typical rows of a model of tables, against averaging by hand ----------------------------------------


def test_cells_are_means_shares_and_modes(tmp_path) -> None:
    rng = np.random.default_rng(0)
    lines = ["age,smokes,blood,kind"]
    lines += [f"{rng.normal(50, 9):.1f},{i % 2},{'AB'[i % 2]},{'uvw'[i % 3]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    data = read_user_data(tmp_path / "t.csv", factors=["kind"])
    torch.manual_seed(0)
    model = assemble(data, {"kind": "class_style", "style": 2, "width": 8}, {}).model
    model.module.eval()
    (section,) = typical_rows(model, data)
    assert section.title == "Typical rows: kind"
    assert section.table is not None
    assert section.table.header == ("column", "u", "v", "w")
    rows = {row[0]: row[1:] for row in section.table.rows}
    assert list(rows) == ["age", "smokes", "blood"]
    torch.manual_seed(0)
    drawn = model.generate(500, {"kind": torch.full((500,), 1)})
    assert isinstance(data.x, torch.Tensor)
    seen = data.x[data.factors["kind"].values == 1]
    assert rows["age"][1] == f"{drawn[:, 0].mean().item():.3g} ({seen[:, 0].mean().item():.3g})"
    assert (
        rows["smokes"][1]
        == f"{100 * drawn[:, 1].mean().item():.0f} % ({100 * seen[:, 1].mean().item():.0f} %)"
    )
    share = (drawn[:, 2] == 1).float().mean().item()
    assert rows["blood"][1].startswith(
        f"B {100 * share:.0f} %" if share > 0.5 else f"A {100 * (1 - share):.0f} %"
    )


# ---- Filling hidden entries: a model that knows them, beside the mean ------------------------------------


def test_each_column_has_its_error_beside_that_of_the_mean() -> None:
    one = model()
    (section,) = imputation(one, DATA)
    assert section.table is not None
    hide = np.random.default_rng(0).random((60, 3)) < 0.2
    filled = one.reconstruct(torch.where(torch.from_numpy(hide), torch.nan, X)).numpy()
    name, hidden, ours, mean = section.table.rows[1]
    truth, shown = X[:, 1].numpy()[hide[:, 1]], X[:, 1].numpy()[~hide[:, 1]]
    assert (name, hidden) == ("weight", str(hide[:, 1].sum()))
    assert ours == f"{np.sqrt(((filled[hide[:, 1], 1] - truth) ** 2).mean()):.3g}"
    assert mean == f"{np.sqrt(((shown.mean() - truth) ** 2).mean()):.3g}"
    blood = section.table.rows[2]
    assert blood[2].endswith(" %")


def test_only_tables_have_missing_values() -> None:
    assert imputation(model(), replace(DATA, table=())) == []
