"""How a training is asked for: patience, weights of classes, the device, and the history that it leaves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import recall_score

from tests.estimator.small import CLASSES, COUNT, IMAGES, half_known, small
from unknot import StructuredVAE
from unknot.errors import SpecError, UnknotError
from unknot.estimator import StructuredClassifier


def test_patience_stops_by_held_out_labels_and_keeps_the_best_weights() -> None:
    vae = small(steps=2000, patience=3, learning_rate=3e-2).fit(IMAGES[:COUNT], digit=half_known(CLASSES))
    assert vae.result_.stopped_because == "patience"
    scores = [record["validation"] for record in vae.history_ if "validation" in record]
    assert len(scores) < 100
    assert max(scores[:-3]) >= max(scores[-3:])
    assert int(vae.factors_["digit"].known.sum()) == COUNT // 2  # the held-out labels are labels still


def test_patience_without_labels_stops_by_the_bound() -> None:
    x = np.random.default_rng(0).normal(size=(100, 3))  # there is nothing to learn
    vae = small(steps=3000, patience=5, learning_rate=1e-2).fit(x)
    assert vae.result_.stopped_because == "patience"


def test_patience_of_a_ensemble() -> None:
    rng = np.random.default_rng(0)
    x, kind = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    vae = StructuredVAE(steps=60, patience=2, verbose=False).fit(x, kind=kind)
    assert vae.result_.stopped_because == "patience"
    assert vae.predict(x).shape == (80,)


def test_history_has_the_logged_terms_up_to_the_last_step() -> None:
    vae = small(steps=12).fit(IMAGES[:COUNT], digit=half_known(CLASSES))
    assert vae.history_[-1]["step"] == 12
    assert {"loss", "reconstruction", "kl[style]", "classifier"} <= vae.history_[-1].keys()


def test_separate_keeps_the_factor_out_of_the_style(tmp_path: Path) -> None:
    vae = small(steps=12, separate=True).fit(IMAGES[:COUNT], digit=half_known(CLASSES))
    assert vae.trained_.node("style").whiten == "digit"
    assert {"log_term[swap]", "log_term[independence_digit]"} <= vae.history_[-1].keys()
    vae.save(tmp_path / "vae")
    again = StructuredVAE.load(tmp_path / "vae")
    assert again.separate is True
    np.testing.assert_allclose(again.transform(IMAGES[:9]), vae.transform(IMAGES[:9]), atol=1e-6)


def test_the_device_is_named_or_refused() -> None:
    assert small(steps=1, device="cpu").fit(IMAGES[:COUNT]).result_.steps == 1
    with pytest.raises(UnknotError, match="device"):
        small(steps=1, device="toaster").fit(IMAGES[:COUNT])


def rare_table() -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping clouds, 200 and 12 rows."""
    rng = np.random.default_rng(0)
    ill = np.arange(212) >= 200
    return rng.normal(size=(212, 2)) + ill[:, None], np.where(ill, "ill", "well")


def test_balanced_classes_find_more_of_the_rare_one(tmp_path: Path) -> None:
    x, outcome = rare_table()
    settings = {"steps": 40, "learning_rate": 2e-2}
    plain = small(**settings).fit(x, outcome=outcome)
    balanced = small(**settings, class_weight="balanced").fit(x, outcome=outcome)
    found = [recall_score(outcome, vae.predict(x), pos_label="ill") for vae in (plain, balanced)]
    assert found[1] > found[0]
    odds = [vae.predict_proba(x)[:, 0] / vae.predict_proba(x)[:, 1] for vae in (plain, balanced)]
    np.testing.assert_allclose(odds[1] / odds[0], 200 / 12, rtol=1e-2)  # ill is the first class
    balanced.save(tmp_path / "model")
    again = StructuredVAE.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(x), balanced.predict(x))


def test_a_classifier_takes_weights_in_its_own_words() -> None:
    x, outcome = rare_table()
    wild = StructuredClassifier(style=2, steps=30, class_weight={"ill": 1e7}).fit(x, outcome)
    assert set(wild.predict(x)) == {"ill"}


def test_weights_that_cannot_be_are_refused_before_training() -> None:
    x, outcome = rare_table()
    with pytest.raises(SpecError, match="the classes of 'outcome' are ill, well"):
        small(steps=10**9, class_weight={"dead": 2.0}).fit(x, outcome=outcome)
    with pytest.raises(SpecError, match="for one factor of classes, but there are 2"):
        small(class_weight={"ill": 2.0}).fit(x, outcome=outcome, half=np.arange(212) % 2)
