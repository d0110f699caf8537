"""No door shows an error on labels that the model was trained on: tables, images and texts, command line and Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.cli.running import digits, refused, run
from tests.estimator.test_text import texts_of
from unknot import StructuredVAE
from unknot.data.from_arrays import from_arrays
from unknot.workflow.run import open_run
from unknot.workflow.trained_labels import from_json, held_out_labels, merged, to_json, trained_labels
from unknot.workflow.verdict.verdict import verdict

SENTENCE = (
    "No error of kind is shown, because the only labels here are those that the model was trained on; give labeled "
    "items that it was not trained on."
)
FIGURES = re.compile(r"error|accuracy|confusion|calibration|recall|mistakes|R²", re.IGNORECASE)


def table() -> tuple[Any, list[str]]:
    rng = np.random.default_rng(0)
    kinds = rng.choice(["ill", "well"], 120)
    return np.round(rng.normal(size=(120, 3)) + (kinds == "ill")[:, None], 2), kinds.tolist()


def images() -> tuple[Any, list[str]]:
    x, classes = digits()
    return x[:120], [f"digit {k}" for k in classes[:120]]


def texts() -> tuple[Any, list[str]]:
    spoken, topics = texts_of(200)
    different = {
        " ".join(sorted(text.split())): (text, topic) for text, topic in zip(spoken, topics, strict=True)
    }
    texts, labels = zip(*list(different.values())[:120], strict=True)
    return list(texts), list(labels)


KINDS: dict[str, Callable[[], tuple[Any, list[str]]]] = {"table": table, "images": images, "texts": texts}
CUT = 60  # items before it are fitted, the others are new


def visible(page: str) -> str:
    """What a reader of a page sees: no tags, no drawings, no settings."""
    page = re.sub(r"<(style|svg|pre).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def shows_no_error(text: str) -> None:
    assert SENTENCE in text
    assert not FIGURES.search(text.replace(SENTENCE, "")), FIGURES.findall(text.replace(SENTENCE, ""))


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimators_report(kind: str, tmp_path: Path) -> None:
    x, labels = KINDS[kind]()
    vae = StructuredVAE(steps=3, cross_fit=0, verdict=False, verbose=False).fit(x[:CUT], kind=labels[:CUT])
    vae.save(tmp_path / "model")
    for model in (vae, StructuredVAE.load(tmp_path / "model")):
        model.report(tmp_path / "seen.html", x[:CUT], kind=labels[:CUT])
        shows_no_error(visible((tmp_path / "seen.html").read_text()))
        model.report(tmp_path / "new.html", x[CUT:], kind=labels[CUT:])
        new = visible((tmp_path / "new.html").read_text())
        assert f"Measured on {len(labels) - CUT} held-out labels" in new
        assert "Confusion: kind" in new
        assert SENTENCE not in new
        model.report(tmp_path / "both.html", x, kind=labels)  # only the new items count
        assert f"Measured on {len(labels) - CUT} held-out labels" in visible(
            (tmp_path / "both.html").read_text()
        )
    known, new = (
        vae.counterfactuals(x[rows], kind=labels[rows])["kind"] for rows in (slice(CUT), slice(CUT, None))
    )
    assert (known.encoder.real, known.leak) == (None, None)
    assert new.encoder.real is not None


def write(folder: Path, name: str, x: Any, labels: list[str]) -> Path:
    """Items and their labels as a file of the kind that suits them."""
    if isinstance(x, list):
        path = folder / f"{name}.jsonl"
        lines = (json.dumps({"text": text, "kind": label}) for text, label in zip(x, labels, strict=True))
        path.write_text("\n".join(lines) + "\n")
    elif x.ndim == 3:
        path = folder / f"{name}.npz"
        np.savez(path, x=x, kind=np.array(labels))
    else:
        path = folder / f"{name}.csv"
        rows = [",".join([*map(str, row), label]) for row, label in zip(x.tolist(), labels, strict=True)]
        path.write_text("\n".join(["a,b,c,kind", *rows]) + "\n")
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_the_commands(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, labels = KINDS[kind]()
    seen = write(tmp_path, "seen", x[:CUT], labels[:CUT])
    new = write(tmp_path, "new", x[CUT:], labels[CUT:])
    folder, page = tmp_path / "run", tmp_path / "page.html"
    options = ("--set", "train.steps=3", "--set", "train.cross_fit=0")
    code, out, err = run(capsys, "fit", seen, "--label", "kind", *options, "--run", folder)
    assert code == 0, err
    assert f"Verdict: {SENTENCE}" in out
    assert "so its error is not known" in out
    assert not FIGURES.search(out.replace(SENTENCE, "").replace("so its error is not known", ""))
    assert run(capsys, "report", folder)[0] == 0
    shows_no_error(visible((folder / "report.html").read_text()))
    assert run(capsys, "report", folder, seen, "-o", page)[0] == 0
    shows_no_error(visible(page.read_text()))
    assert refused(capsys, "evaluate", folder) == SENTENCE
    assert refused(capsys, "evaluate", folder, seen) == SENTENCE
    trained = open_run(folder)
    shows_no_error(verdict(trained.model, trained.train, None, []).line)
    # and with labels that it was not trained on
    assert run(capsys, "report", folder, new, "-o", page)[0] == 0
    assert f"Measured on {len(labels) - CUT} held-out labels" in visible(page.read_text())
    code, out, err = run(capsys, "evaluate", folder, new, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)[0]["items"] == len(labels) - CUT


def test_a_run_with_test_data_shows_its_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "table", *table())
    options = ("--set", "train.steps=3", "--test-share", "0.2", "--run", tmp_path / "run")
    code, out, _ = run(capsys, "fit", path, "--label", "kind", *options)
    assert code == 0
    assert "error" in out
    assert "No error of" not in out
    assert run(capsys, "report", tmp_path / "run")[0] == 0
    assert "Measured on 24 held-out labels" in visible((tmp_path / "run" / "report.html").read_text())


def test_labels_are_hidden_by_factor_and_item() -> None:
    rows = np.arange(20.0).reshape(10, 2)
    first = np.where(np.arange(10) < 4, 1, -1)
    second = np.where(np.arange(10) < 7, 0.5, np.nan)
    vae = StructuredVAE("class_style", style=1, steps=1, verdict=False, verbose=False)
    vae.fit(rows, kind=first + (first > 0) * np.arange(10) % 2, size=second)
    asked = from_arrays(
        rows[::-1].copy(), {"kind": np.ones(10, int), "size": np.ones(10)}, classes={"kind": "abc"}
    )
    held = held_out_labels(vae.trained_, asked)
    assert held.factors["kind"].known.tolist() == [i >= 4 for i in range(10)][::-1]
    assert held.factors["size"].known.tolist() == [i >= 7 for i in range(10)][::-1]


def test_digests_do_not_depend_on_how_numbers_are_stored() -> None:
    labels = {"kind": [0, 1, -1]}
    plain = np.array([[0.0, 1.0], [np.nan, 2.0], [5.0, 5.0]])
    same = [plain, plain.astype(np.float32), np.where(plain == 0, -0.0, plain), torch.from_numpy(plain)]
    one, *others = (trained_labels(from_arrays(x, labels, missing=True))["kind"] for x in same)
    assert len(one) == 2  # the third item has no label
    for other in others:
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(from_json(json.loads(json.dumps(to_json({"kind": one}))))["kind"], one)
    changed = trained_labels(from_arrays(plain + 1e-3, labels, missing=True))["kind"]
    assert not np.isin(changed, one).any()
    assert set(merged({"kind": one}, {"kind": changed})["kind"]) == {*one, *changed}
