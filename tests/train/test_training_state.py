"""The state of a training: to a checkpoint and back, and the weights it leaves."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from tests.train.programs import digits, model, plain_elbo
from unknot.errors import RunError
from unknot.train.held_out import EarlyStopping, WeightAverage
from unknot.train.training_state import TrainingState


def _state(hidden: int = 32, seed: int = 0) -> TrainingState:
    trained = model(seed=seed, hidden=hidden)
    optimizer = torch.optim.Adam(trained.parameters(), fused=True)
    return TrainingState(trained, None, optimizer, WeightAverage(trained, 0.9), EarlyStopping(2))


def _step(state: TrainingState) -> None:
    loss = plain_elbo(*state.model(digits().batch(range(8)))).loss
    state.optimizer.zero_grad()
    loss.backward()
    state.optimizer.step()
    state.step += 1
    assert state.average is not None
    state.average.update(state.step)


def test_a_restored_state_goes_on_with_the_same_steps() -> None:
    one, other = _state(), _state(seed=1)
    _step(one)
    one.stopping.observe(0.5, 1)
    one.stopping.weights = one.evaluation_weights()
    made = one.checkpoint(data="digest")
    assert made.state["data"] == "digest"
    json.dumps(made.state)
    made = replace(made, tensors={name: t.clone() for name, t in made.tensors.items()})  # as a file would
    _step(one)
    other.restore(made)
    assert (other.step, other.stopping.best) == (1, 0.5)
    _step(other)  # the random states came back too: the same draws
    for name, tensor in one.model.state_dict().items():
        assert torch.equal(tensor, other.model.state_dict()[name])
    assert other.seconds == made.state["seconds"]
    assert other.elapsed > other.seconds


def test_a_checkpoint_of_another_model_is_refused() -> None:
    with pytest.raises(RunError, match="the checkpoint of step 0 does not fit this model"):
        _state(hidden=16).restore(_state().checkpoint())


def test_the_model_is_left_with_the_best_weights_else_the_averaged() -> None:
    state = _state()
    start = model().y.bias.detach()
    _step(state)
    assert state.average is not None
    averaged = state.average.state_dict()["y.bias"]
    state.finish()
    assert torch.equal(state.model.state_dict()["y.bias"], averaged)
    state.stopping.weights = {name: t.clone() for name, t in model().state_dict().items()}
    state.finish()
    assert torch.equal(state.model.state_dict()["y.bias"], start)
