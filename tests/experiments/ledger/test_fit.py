"""Data and labels as a stranger has them, and answers for all classes."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest

from experiments.ledger import fit as own_data_fit
from experiments.ledger import fit as training
from experiments.ledger.fit import class_probabilities, fitted, full, labeled_data, real_columns
from unknot.data.batch import Batch
from unknot.train.loop import Loop
from unknot.workflow.recipe import Recipe

DRAW = np.random.default_rng(0)
Y = np.arange(60) % 2
X = (DRAW.standard_normal((60, 4)) + 3 * Y[:, None]).astype(np.float32)


def test_whole_numbers_are_classes_and_others_numbers() -> None:
    amounts = X[:, 0].copy()
    amounts[20:] = np.nan
    data = labeled_data(X, {"kind": np.where(np.arange(60) < 20, Y, -1), "amount": amounts}, real_columns(X))
    assert (data.factor("kind").kind, data.factor("amount").kind) == ("categorical", "continuous")
    assert int(data.factor("kind").known.sum()) == int(data.factor("amount").known.sum()) == 20
    assert len(data.table) == 4


def test_a_class_without_a_label_has_hardly_any_probability() -> None:
    labels = np.where(np.arange(60) < 20, Y, -1)
    model = fitted(labeled_data(X, {"kind": labels}, real_columns(X)), 0, {"steps": 20})
    shares = class_probabilities(model, "kind", X, 3)
    assert shares.shape == (60, 3)
    assert shares[:, 2].max() < 0.01
    assert (shares.argmax(1) == Y).mean() > 0.9


def test_full_keeps_the_places_of_classes() -> None:
    found = full(np.array([[0.25, 0.75]]), np.array([0, 2]), 3)
    np.testing.assert_allclose(found, [[0.25, 0, 0.75]], atol=1e-6)


def test_an_interrupted_training_gives_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = own_data_fit.fit

    def interrupted(model: Any, data: Any, config: Any) -> Any:
        return whole(model, data, config, on_step=lambda step, _: os.kill(os.getpid(), signal.SIGTERM))

    monkeypatch.setattr(own_data_fit, "fit", interrupted)
    labels = np.where(np.arange(60) < 20, Y, -1)
    with pytest.raises(KeyboardInterrupt):
        fitted(labeled_data(X, {"kind": labels}, real_columns(X)), 0, {"steps": 5})


# ---- Training for the ledger leaves nothing behind, and no half-trained model either ---------------------

RECIPE = Recipe(
    {"name": "digits"},
    {"budget": {"digit": 50}},
    {"kind": "class_style", "style": 2, "width": 16},
    {"steps": 3, "batch_size": 60},
)


def test_the_model_and_its_data_come_back() -> None:
    trained = training.train_quietly(RECIPE)
    assert not trained.run.path.exists()
    assert not trained.model.module.training
    assert 0 <= training.error_of(trained, "digit") <= 100


def test_an_interrupt_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Loop._step

    def interrupted(loop: Loop, batch: Batch, further: Batch | None) -> None:
        step(loop, batch, further)
        os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C while training: the loop ends after this step

    monkeypatch.setattr(Loop, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        training.train_quietly(RECIPE)
