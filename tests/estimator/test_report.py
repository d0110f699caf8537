"""The estimator's report is the page of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.estimator.small import CLASSES, IMAGES
from unknot import StructuredVAE
from unknot.errors import SpecError


def test_a_report_of_new_items(fitted: StructuredVAE, tmp_path: Path) -> None:
    fitted.report(tmp_path / "new" / "digits.html", IMAGES[1000:1200], digit=CLASSES[1000:1200])
    page = (tmp_path / "new" / "digits.html").read_text()
    assert "200 items" in page
    for title in ("Analogies", "Confusion: digit", "Training"):
        assert title in page
    with pytest.raises(SpecError, match="fitted with labels of digit"):
        fitted.report(tmp_path / "other.html", IMAGES[:9], color=CLASSES[:9])


def test_items_of_the_training_show_the_out_of_fold_error(fitted: StructuredVAE, tmp_path: Path) -> None:
    fitted.report(tmp_path / "old.html", IMAGES[:60], digit=CLASSES[:60])
    page = (tmp_path / "old.html").read_text()
    assert "some of which it was trained on" in page
    assert f"Measured on {len(fitted.trained_.out_of_fold['digit']):,} labels by cross-fitting" in page
    assert "held-out labels, which" not in page
    fitted.report(tmp_path / "both.html", IMAGES[950:1050], digit=CLASSES[950:1050])
    assert "Measured on 50 held-out labels" in (tmp_path / "both.html").read_text()


def test_a_loaded_model_reports_without_its_history(fitted: StructuredVAE, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    StructuredVAE.load(tmp_path / "model").report(tmp_path / "page.html", IMAGES[1000:1050])
    assert "50 items" in (tmp_path / "page.html").read_text()
