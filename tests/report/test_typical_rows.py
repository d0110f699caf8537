"""Typical rows of a model of tables, against averaging by hand."""

from __future__ import annotations

import numpy as np
import torch

from unknot.data.user.user_files import read_user_data
from unknot.report.typical_rows import typical_rows
from unknot.workflow.assembly import assemble
from unknot.workflow.evaluation import predict_dataset


def test_cells_are_means_shares_and_modes(tmp_path) -> None:
    rng = np.random.default_rng(0)
    lines = ["age,smokes,blood,kind"]
    lines += [f"{rng.normal(50, 9):.1f},{i % 2},{'AB'[i % 2]},{'uvw'[i % 3]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    data = read_user_data(tmp_path / "t.csv", factors=["kind"])
    torch.manual_seed(0)
    model = assemble(data, {"style": 2, "width": 8}, {}).model
    model.module.eval()
    (section,) = typical_rows(model, data, predict_dataset(model, data))
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
