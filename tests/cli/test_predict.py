"""`unknot predict`: one row per item, in the users' own names."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import CSV_SPEC, csv_file, digits, image_folder, refused, run, spec_file


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_of_predictions(
    trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "new.npz", x=digits()[0][:7, None])
    code, out, _ = run(capsys, "predict", trained_run, tmp_path / "new.npz", "-o", tmp_path / "t.csv")
    assert code == 0
    assert "Wrote 7 rows" in out
    rows = rows_of(tmp_path / "t.csv")
    assert list(rows[0])[:4] == ["row", "digit", "digit probability", "digit set"]
    assert [row["row"] for row in rows] == [str(i) for i in range(7)]
    assert all(row["digit"] == row["digit set"].split("|")[0] for row in rows)
    assert all(row["digit"] in "0123456789" and 0.1 <= float(row["digit probability"]) <= 1 for row in rows)


def test_words_numbers_and_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = csv_file(tmp_path / "t.csv")
    assert run(capsys, "fit", spec_file(tmp_path, CSV_SPEC), table, "--run", "table")[0] == 0
    assert run(capsys, "predict", "table", table, "-o", "p.csv")[0] == 0
    rows = rows_of(tmp_path / "p.csv")
    ours = ["group", "group probability", "group set", "severity", "severity low", "severity high", "novelty"]
    assert list(rows[0]) == ["row", "patient", *ours]
    assert all(
        float(row["severity low"]) <= float(row["severity"]) <= float(row["severity high"]) for row in rows
    )
    assert run(capsys, "predict", "table", table, "-o", "sure.csv", "--level", "0.6")[0] == 0
    sure = rows_of(tmp_path / "sure.csv")
    assert all(float(a["severity low"]) >= float(b["severity low"]) for a, b in zip(sure, rows, strict=True))
    assert {row["group set"] for row in sure} <= {row["group set"] for row in rows} | {"ill", "well"}
    assert "--level is between 0 and 1" in refused(capsys, "predict", "table", table, "--level", "90")
    assert rows[7]["patient"] == "p7"  # the column that tells rows apart is kept
    with_old = [
        line + (",group probability,severity low,novelty" if i == 0 else ",0.5,1,0.1")
        for i, line in enumerate(table.read_text().split())
    ]
    (tmp_path / "again.csv").write_text("\n".join(with_old) + "\n")
    assert run(capsys, "predict", "table", "again.csv", "-o", "q.csv")[0] == 0
    assert (tmp_path / "q.csv").read_text() == (tmp_path / "p.csv").read_text()  # not what was said before
    assert {row["group"] for row in rows} <= {"ill", "well"}
    assert all(np.isfinite(float(row["severity"])) for row in rows)

    odd = table.read_text().splitlines()[:6]
    odd[2] = "p1,old,1,A,3,ill,2.5"  # no age
    odd[4] = "p3,44,1,AB,3,unwell,bad"  # an unknown category; labels do not matter
    (tmp_path / "odd.csv").write_text("\n".join(odd) + "\n")
    code, _, said = run(capsys, "predict", "table", "odd.csv", "-o", "r.csv")
    assert code == 0
    assert "column 'blood': there are 'AB', which no training row has" in said
    assert "odd.csv, column 'age', row 3: got 'old', expected a number; the row has no prediction" in said
    after = rows_of(tmp_path / "r.csv")
    assert after[1] == {"row": "1", "patient": "p1", **dict.fromkeys(ours, "")}
    assert [after[i] for i in (0, 2, 4)] == [rows[i] for i in (0, 2, 4)]
    assert after[3]["group"] in ("ill", "well")
    said = refused(capsys, "predict", "table", "odd.csv", "-o", "s.csv", "--errors", "raise")
    assert "row 3: got 'old', expected a number" in said

    folder = image_folder(tmp_path / "images")
    spec = spec_file(tmp_path, "model: {style: 2, width: 16}\ntrain: {steps: 2, batch_size: 8}\n")
    assert run(capsys, "fit", spec, folder, "--run", "pictures")[0] == 0
    assert run(capsys, "predict", "pictures", folder, "-o", "p.csv")[0] == 0
    rows = rows_of(tmp_path / "p.csv")
    assert (rows[3]["file"], len(rows)) == ("image-03.png", 40)
    assert {row["parity"] for row in rows} <= {"even", "odd"}


def test_where_the_table_cannot_be_written(
    trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "new.npz", x=digits()[0][:7, None])
    said = refused(capsys, "predict", trained_run, tmp_path / "new.npz", "-o", tmp_path / "new.npz" / "t.csv")
    assert "new.npz/t.csv: a file stands where a folder should be" in said
    assert "no file" in refused(capsys, "predict", trained_run, tmp_path / "absent.npz")


def test_a_model_without_labels_has_nothing_to_predict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "bare.npz", x=digits()[0][:60])
    settings = ("--set", "train.steps=2", "--set", "train.batch_size=20")
    code, out, _ = run(capsys, "fit", tmp_path / "bare.npz", "-o", tmp_path / "run", *settings)
    assert code == 0
    assert f"Next: `unknot report {tmp_path}/run` for pictures, `unknot sample {tmp_path}/run`." in out
    table = tmp_path / "t.csv"
    said = refused(capsys, "predict", tmp_path / "run", tmp_path / "bare.npz", "-o", table)
    assert "takes no labels, so there is no factor to predict" in said
    assert not table.exists()


def test_only_a_csv_table_is_written(
    trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "new.npz", x=digits()[0][:7, None])
    said = refused(capsys, "predict", trained_run, tmp_path / "new.npz", "-o", tmp_path / "t.xlsx")
    assert "t.xlsx: predictions go to a .csv table" in said


def test_the_data_itself_is_never_written_over(
    trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("new.npz", x=digits()[0][:7, None])
    before = (tmp_path / "new.npz").read_bytes()
    for command in ("predict", "report"):
        said = refused(capsys, command, trained_run, "new.npz", "-o", tmp_path / "new.npz")
        assert "would overwrite the data; name another file" in said
    assert (tmp_path / "new.npz").read_bytes() == before


def test_numbers_that_are_no_counts_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts, kind = np.random.default_rng(0).poisson(0.03, (40, 300)), np.arange(40) % 2
    np.savez(tmp_path / "words.npz", x=counts, kind=kind)
    settings = ["--set", "train.steps=2", "--set", "train.batch_size=20", "--no-verdict"]
    assert run(capsys, "fit", tmp_path / "words.npz", "-o", tmp_path / "run", *settings)[0] == 0
    for name, x in {"shares": counts * 0.5, "signs": -counts}.items():
        np.savez(tmp_path / f"{name}.npz", x=x, kind=kind)
        for command in ("predict", "evaluate"):
            assert "counts" in refused(capsys, command, tmp_path / "run", tmp_path / f"{name}.npz")
