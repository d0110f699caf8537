"""How a training is asked for: patience, weights of classes, the device, and the history that it leaves."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import recall_score

from tests.estimator.small import CLASSES, COUNT, IMAGES, class_and_style, half_known, small
from unknot import StructuredVAE
from unknot.errors import SpecError, UnknotError
from unknot.estimator import StructuredClassifier
from unknot.estimator.parameters import plain_parameters
from unknot.workflow.default_models import TableEnsemble
from unknot.workflow.model_source import Joined


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
    assert vae.trained_.node("style").encoder.options["whiten"] == "digit"
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


# Constructor arguments that cannot be are refused by name; those of a saved model are plain data.

X = np.random.default_rng(0).random((20, 3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": -1}, "alpha is the weight of the labels, a number of at least 0, but got -1"),
        ({"alpha": float("nan")}, "alpha is the weight of the labels"),
        ({"alpha": "large"}, "alpha is the weight of the labels"),
        ({"style": 0}, "style is the number of dimensions"),
        ({"style": 2.5}, "style is the number"),
        ({"steps": 0}, "steps is a whole number of at least 1"),
        ({"kinds": ["categorical"]}, "kinds is a mapping such as"),
        ({"text": "counts"}, "text is a mapping such as"),
        ({"agreement": 5.0}, "an ensemble is trained by its own bound"),
        ({"gradient": "enumerate"}, "has no setting 'gradient'.*class_style"),
        ({"model": "ensemble", "separate": True}, "has no setting 'separate'"),
        ({"model": {"kind": "class_style", "folds": 2}}, "unknown key 'folds'"),
        ({"model": class_and_style(), "style": 3}, "style: these are settings of a default model"),
        ({"model": 5}, "a model is a dictionary, a YAML file or a list of nodes, but got 5"),
    ],
)
def test_arguments_that_cannot_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        StructuredVAE(**{"steps": 2, "verbose": False, **given}).fit(X, kind=np.arange(20) % 2)


def test_arguments_come_back_from_json() -> None:
    rate = {"name": "cosine", "start": 1e-3}
    vae = StructuredVAE(steps=7, kinds=MappingProxyType({"a": "count"}), learning_rate=rate)
    plain = json.loads(json.dumps(plain_parameters(vae)))
    assert plain == {**StructuredVAE().get_params(), "steps": 7, "kinds": {"a": "count"},
                     "learning_rate": rate}  # fmt: skip


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    """scikit-learn's searches choose them from arrays."""
    chosen = {"steps": np.int64(2), "style": np.int64(2), "alpha": np.float64(3), "seed": np.int64(1)}
    vae = StructuredVAE("class_style", **chosen, verbose=False, verdict=False).fit(X, kind=np.arange(20) % 2)
    vae.save(tmp_path / "model")
    assert StructuredVAE.load(tmp_path / "model").get_params() == vae.get_params()


def test_what_is_not_plain_is_named() -> None:
    with pytest.raises(SpecError, match=r"a StructuredVAE with objective=.* cannot be saved"):
        plain_parameters(StructuredVAE(objective=lambda q, p: None))


def test_settings_tune_the_model_that_the_data_choose() -> None:
    kind = np.arange(20) % 2
    tuned = StructuredVAE(style=4, steps=1, verbose=False, verdict=False).fit(X, kind=kind)
    assert isinstance(tuned.trained_.source, Joined)
    assert tuned.trained_.node("style").size == 4
    mapped = StructuredVAE({"kind": "ensemble", "folds": 2}, steps=1, verbose=False, verdict=False).fit(
        X, kind=kind
    )
    assert mapped.trained_.source.default == TableEnsemble(folds=2)
    plain = StructuredVAE("class_style", alpha=3.0, steps=1, verbose=False, verdict=False).fit(X, kind=kind)
    assert [node.name for node in plain.trained_.nodes] == ["kind", "style", "x"]


def test_alpha_without_labels_is_refused() -> None:
    with pytest.raises(SpecError, match="alpha is the weight of the labels, but fit"):
        StructuredVAE(alpha=3.0, steps=1, verbose=False).fit(X)
