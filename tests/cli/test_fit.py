"""`unknot fit` from end to end: every form of data, settings, resumption, and each mistake in one sentence."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.cli.running import CSV_SPEC, SPEC, csv_file, image_folder, npz_file, refused, run, spec_file
from unknot.errors import SpecError


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def config(folder: Path) -> dict:
    return yaml.safe_load((folder / "config.yaml").read_text())


def test_a_named_data_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "fit", spec_file(tmp_path))
    assert (code, err) == (0, "")
    assert "Trained 6 steps (finished); the run is in runs/spec-1." in out
    assert "error" in out
    assert "Verdict: " in out
    assert "unknot report runs/spec-1" in out
    made = tmp_path / "runs" / "spec-1"
    assert {"config.yaml", "metrics.jsonl", "label_budget.json", "checkpoints", "run.json"} <= {
        p.name for p in made.iterdir()
    }
    assert len(json.loads((made / "label_budget.json").read_text())["items"]["digit"]) == 100
    assert config(made)["train"]["batch_size"] == 60
    again = run(capsys, "fit", spec_file(tmp_path), "--no-verdict")[1]
    assert "runs/spec-2" in again
    assert "Verdict" not in again


def test_an_npz_file_with_a_test_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    npz_file(tmp_path / "mine.npz")
    spec = spec_file(tmp_path, "model: {style: 2, width: 16}\ntrain: {steps: 4}\n")
    code, out, _ = run(capsys, "fit", spec, "mine.npz", "--run", "out")
    assert code == 0
    assert "60" in out  # items of the test split
    assert Path(config(tmp_path / "out")["data"]["file"]) == tmp_path / "mine.npz"  # usable from any folder


def test_a_path_in_the_spec_starts_where_the_spec_lies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    npz_file(folder / "mine.npz")
    spec = spec_file(folder, "data: {file: mine.npz}\nmodel: {style: 2, width: 16}\ntrain: {steps: 2}\n")
    assert run(capsys, "fit", spec, "--run", "out")[0] == 0


def test_a_table_with_holes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(
        capsys, "fit", spec_file(tmp_path, CSV_SPEC), csv_file(tmp_path / "t.csv"), "--run", "out"
    )
    assert (code, err) == (0, "")
    assert "group" in out
    assert "severity" in out


def test_a_described_model_takes_its_columns_from_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = CSV_SPEC.replace("[group, severity]", "[group]").replace("visits: count", "severity: leave out")
    text = text.replace(
        "model: {style: 2, width: 32}",
        "model:\n  nodes:\n    group: {family: concrete, size: 2, inferred_from: x, labels: true}\n"
        "    z: {family: normal, size: 2, inferred_from: [x, group]}\n"
        "    x: {family: table, parents: [group, z]}\n",
    )
    assert run(capsys, "fit", spec_file(tmp_path, text), csv_file(tmp_path / "t.csv"), "--run", "out")[0] == 0


def test_a_folder_of_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "data: {test_share: 0.2}\nmodel: {style: 2, width: 16}\ntrain: {steps: 4, batch_size: 8}\n"
    code, out, _ = run(
        capsys, "fit", spec_file(tmp_path, text), image_folder(tmp_path / "images"), "--run", "out"
    )
    assert code == 0
    assert "parity" in out


def test_settings_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = ("--set", "train.steps=3", "--set", "labels.budget.digit=20", "--set", "model.style=2")
    code, out, _ = run(capsys, "fit", spec_file(tmp_path), "--run", "out", *changes)
    assert code == 0
    assert "Trained 3 steps" in out
    found = config(tmp_path / "out")
    assert (found["train"]["steps"], found["labels"]["budget"]["digit"], found["model"]["style"]) == (
        3,
        20,
        2,
    )
    objective = (
        "--set",
        "train.objective={name: hfvae, beta: 2}",
        "--set",
        "model.gradient=enumerate",
    )
    assert run(capsys, "fit", spec_file(tmp_path), "--run", "other", *objective)[0] == 0


def test_early_stopping_uses_only_labels_of_the_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = ("--set", "train.patience=1", "--set", "train.validate_every=1", "--set", "train.steps=40")
    assert run(capsys, "fit", spec_file(tmp_path), "--run", "out", *changes)[0] == 0
    records = [json.loads(line) for line in (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()]
    assert "validation" in records[-1]


def test_resuming_goes_on_and_ends_where_an_unbroken_run_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from unknot.train.run_folder import RunFolder

    spec = spec_file(tmp_path)
    assert run(capsys, "fit", spec, "--run", "whole", "--set", "train.steps=8")[0] == 0
    assert run(capsys, "fit", spec, "--run", "parts", "--set", "train.steps=5")[0] == 0
    code, out, _ = run(capsys, "fit", "--resume", "parts", "--set", "train.steps=8")
    assert code == 0
    assert "Trained 8 steps" in out
    whole, parts = RunFolder.open("whole").latest(), RunFolder.open("parts").latest()
    assert whole is not None
    assert parts is not None
    for name, tensor in whole.part("model").items():
        assert bool((tensor == parts.part("model")[name]).all()), name


def test_a_resumed_run_refuses_other_settings_and_keeps_its_own(
    tmp_path: Path, trained_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(trained_run, tmp_path / "run")
    before = config(tmp_path / "run")
    assert "learning_rate" in refused(
        capsys, "fit", "--resume", "run", "--set", "train.learning_rate=0.5", "--set", "train.steps=9"
    )
    assert "goes on with the data, labels and model it has" in refused(
        capsys, "fit", "--resume", "run", "--set", "labels.budget.digit=50"
    )
    assert config(tmp_path / "run") == before
    for other in (
        (spec_file(tmp_path),),
        ("-o", tmp_path / "elsewhere"),
        ("--label", "digit"),
        ("--test-share", "0.2"),
    ):
        assert "give no spec, --label, --given, --test-share or other" in refused(
            capsys, "fit", "--resume", "run", *other
        )


# ---- mistakes: one sentence, code 2, nothing lost, nothing left behind --------------------------------


NODES = """
  nodes:
    digit: {family: concrete, size: 10, inferred_from: x, labels: true}
    style: {family: normal, size: 3, inferred_from: [x, digit]}
    x: {family: bernoulli, parents: [digit, style]}
"""
MISTAKES = {
    "wrong section": ("dta: {name: digits}", "unknown section 'dta'; did you mean 'data'?"),
    "wrong train key": (SPEC.replace("steps", "stepz"), "train: unknown key 'stepz'; did you mean 'steps'?"),
    "wrong model key": (SPEC.replace("style", "stile"), "model: unknown key 'stile'; did you mean 'style'?"),
    "wrong node key": (
        SPEC.replace("{style: 3, width: 32}", NODES.replace("labels", "label")),
        "model.nodes.digit: unknown key 'label'; did you mean 'labels'?",
    ),
    "unknown parent": (
        SPEC.replace("{style: 3, width: 32}", NODES.replace("[digit, style]", "[digit, stile]")),
        "node 'x': unknown node 'stile' in parents; did you mean 'style'?",
    ),
    "labels of an unlabeled node": (
        SPEC.replace("{style: 3, width: 32}", NODES.replace(", labels: true", "")),
        "there are labels for 'digit', but the model takes labels of no node",
    ),
    "labels that do not exist": (SPEC.replace("digit: 100", "light: 100"), "no factor 'light'"),
    "a node too small": (
        SPEC.replace("{style: 3, width: 32}", NODES.replace("size: 10", "size: 4")),
        "node 'digit' has size 4, but its labels have 10 classes",
    ),
    "unknown data set": (SPEC.replace("digits", "digitz"), "no data set named 'digitz'"),
    "no data": ("train: {steps: 3}", "data: say which"),
    "not YAML": ("data: [", "is not valid YAML"),
    "a batch too large": (SPEC.replace("batch_size: 60", "batch_size: 9999"), "batch_size 9999 is more than"),
    "too few labels": (SPEC.replace("digit: 100", "digit: 99999"), "digit"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_wrong_spec_is_one_sentence(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, message = MISTAKES[name]
    assert message in refused(capsys, "fit", spec_file(tmp_path, text), "--run", "out")
    assert not (tmp_path / "out").exists()  # the next try may use the same folder


@pytest.mark.parametrize(
    "objective", ["elbow", "{name: hfvae, bta: 3}", "{name: hfvae, groups: {a: [digit], b: [nothing]}}"]
)
def test_a_wrong_objective_is_one_sentence(
    objective: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(capsys, "fit", spec_file(tmp_path), "--run", "out", "--set", f"train.objective={objective}")
    assert not (tmp_path / "out").exists()


def test_divergence_before_the_first_checkpoint_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "fit", spec_file(tmp_path), "--run", "out", "--set", "train.learning_rate=1.0e+30")
    assert "diverged" in said
    assert not (tmp_path / "out").exists()


def test_bad_files_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = spec_file(tmp_path, "train: {steps: 2}\n")
    np.savez(tmp_path / "empty.npz", x=np.zeros((0, 4)))
    np.savez(tmp_path / "one.npz", x=np.random.default_rng(0).random((20, 4)), kind=np.zeros(20, int))
    np.savez(tmp_path / "nox.npz", y=np.zeros((3, 4)))
    np.savez(tmp_path / "short.npz", x=np.zeros((3, 4)), kind=np.arange(2))
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 nothing")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "none").mkdir()
    cases = {
        "empty.npz": "is empty",
        "one.npz": "one class only",
        "nox.npz": "needs an array 'x'",
        "short.npz": "2 labels for 3 items",
        "broken.npz": "cannot be read",
        "header.csv": "is empty",
        "none": "holds no images",
        "absent.npz": "there is no file",
        "absent": "there is no file or folder",
        "spec.yaml": "expected an .npz file",
    }
    for name, message in cases.items():
        assert message in refused(capsys, "fit", spec, tmp_path / name, "--run", "out"), name
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["t.xlsx", "t.txt"])
def test_a_file_of_another_kind_is_no_spec(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04a,b")
    said = refused(capsys, "fit", tmp_path / name, "--label", "b", "-o", tmp_path / "run")
    assert ("expected an .npz file, a table" if name == "t.txt" else "read_excel(") in said


def test_a_folder_that_is_taken_stays_as_it_is(
    tmp_path: Path, trained_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(trained_run, tmp_path / "run")
    before = sorted(p.name for p in (tmp_path / "run").rglob("*"))
    assert "holds a run already" in refused(capsys, "fit", spec_file(tmp_path), "--run", "run")
    assert sorted(p.name for p in (tmp_path / "run").rglob("*")) == before


def test_runs_of_another_version_and_damaged_checkpoints(
    tmp_path: Path, trained_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(trained_run, tmp_path / "run")
    (tmp_path / "run" / "run.json").write_text('{"format": 99, "unknot": "9.9"}')
    for command in ("evaluate", "report", "sample"):
        assert "another version" in refused(capsys, command, "run")
    assert "another version" in refused(capsys, "fit", "--resume", "run")
    shutil.copy(trained_run / "run.json", tmp_path / "run")
    for tensors in (tmp_path / "run" / "checkpoints").rglob("*.safetensors"):
        tensors.write_bytes(tensors.read_bytes()[:1000])
    assert "damaged" in refused(capsys, "evaluate", "run")
    assert "damaged" in refused(capsys, "fit", "--resume", "run")
    assert (tmp_path / "run" / "metrics.jsonl").exists()
    assert "holds no model" in refused(capsys, "evaluate", tmp_path)


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    from unknot.cli import main

    with pytest.raises(SpecError):
        main(["--debug", "fit", str(spec_file(tmp_path, "dta: {}"))])


# ---- real processes ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_interrupt_saves_and_ends_with_130(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "unknot", "fit", str(spec_file(tmp_path)), "--run", "out"]
    process = subprocess.Popen(
        [*command, "--set", "train.steps=100000"], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    for _ in range(600):
        if (tmp_path / "out" / "metrics.jsonl").exists():
            break
        time.sleep(0.1)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "continue with `unknot fit --resume out`" in err
    assert "Traceback" not in err
    assert list((tmp_path / "out" / "checkpoints").iterdir())


@pytest.mark.slow
def test_two_processes_make_one_run(tmp_path: Path) -> None:
    """With dropout and batch norm out of the way, two processes and one give the same model to float tolerance."""
    from unknot.train.run_folder import RunFolder

    text = SPEC.replace(
        "{style: 3, width: 32}", NODES.replace("parents", "encoder: {name: mlp, hidden: [32]}, parents")
    )
    spec = spec_file(tmp_path, text)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    fit = ["-m", "unknot", "fit", str(spec), "-o"]  # torchrun takes --run for its own
    torchrun = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", "29641"]
    for options, where in ((torchrun, "two"), ([], "one")):
        done = subprocess.run(
            [sys.executable, *options, *fit, where],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("Trained 6 steps") == 1
        assert "Verdict:" in done.stdout  # which is the first process's own work
    one, two = RunFolder.open(tmp_path / "one").latest(), RunFolder.open(tmp_path / "two").latest()
    assert one is not None
    assert two is not None
    for name, tensor in one.part("model").items():
        np.testing.assert_allclose(tensor, two.part("model")[name], rtol=2e-3, atol=2e-4, err_msg=name)


# ---- data at once, without a spec ------------------------------------------------------------------------

QUICK = ("--set", "train.steps=3", "--set", "model.kind=class_style", "--set", "model.width=16")


def test_a_table_and_the_column_to_learn_without_a_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    csv_file(tmp_path / "wine.csv")
    code, out, err = run(capsys, "fit", "wine.csv", "--label", "group", *QUICK)
    assert code == 0
    assert "column 'patient' is different in every row and is left out" in err
    assert "Data: 200 rows of wine" in out  # all labels are trained on
    assert "Label group: 2 classes (ill, well), known for" in out
    assert "group: On labels it had not seen, it is right in" in out
    assert "100 out-of-fold labels" in out
    assert config(tmp_path / "runs" / "wine-1")["data"]["factors"] == ["group"]
    code, out, err = run(capsys, "fit", "wine.csv", "--label", "group", "--test-share", "0.2", *QUICK)
    assert code == 0
    assert "Data: 160 rows of wine" in out
    assert "40 more are kept for the test" in out
    assert "held-out labels, which the model was not trained on" in out


def test_without_a_label_it_says_that_it_trains_unsupervised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    csv_file(tmp_path / "wine.csv")
    code, out, _ = run(capsys, "fit", "wine.csv", *QUICK)
    assert code == 0
    assert "No labels: unsupervised" in out
    assert "group" in out  # it is data, and this is said
    assert "not trained on" not in out  # no empty table


def test_an_empty_spec_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    npz_file(tmp_path / "mine.npz")
    code, out, _ = run(capsys, "fit", spec_file(tmp_path, ""), "mine.npz", *QUICK)
    assert code == 0
    assert "Label digit: 10 classes" in out


def test_a_folder_of_sub_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = image_folder(tmp_path / "photographs")
    (folder / "labels.csv").unlink()
    for i, path in enumerate(sorted(folder.glob("*.png"))):
        (folder / f"kind {i % 2}").mkdir(exist_ok=True)
        path.rename(folder / f"kind {i % 2}" / path.name)
    code, out, _ = run(capsys, "fit", folder, *QUICK)
    assert code == 0
    assert "Label label: 2 classes (kind 0, kind 1), known for 40 of 40." in out
    assert "40 out-of-fold labels" in out
    assert "expected a spec or data" in refused(capsys, "fit")


def test_classes_that_look_like_numbers_are_to_be_declared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column of classes with gaps, as pandas writes it."""
    rows = "".join(f"{i}.5,{['0.0', '1.0', ''][i % 3]}\n" for i in range(30))
    (tmp_path / "t.csv").write_text(f"a,kind\n{rows}")
    fit = ["fit", tmp_path / "t.csv", "--label", "kind", "-o", tmp_path / "run", "--set", "train.steps=2"]
    assert (
        "say which, kinds={'kind': 'categorical'} or 'continuous', for a file --set \"data.kinds="
        in refused(capsys, *fit)
    )
    code, out, _ = run(capsys, *fit, "--set", "data.kinds={kind: categorical}", "--no-verdict")
    assert code == 0
    assert "Label kind: 2 classes (0, 1)" in out
