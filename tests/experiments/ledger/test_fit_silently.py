"""Training for the ledger leaves nothing behind, and no half-trained model either."""

import os
import signal

import pytest

from experiments.ledger import fit as training
from unknot.data.batch import Batch
from unknot.train.loop import Loop
from unknot.workflow.recipe import Recipe

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
