"""The score on held-out items: of the weights as they would be used, leaving no trace."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.train.programs import digits, model, plain_elbo
from unknot.train import TrainConfig, fit
from unknot.train.held_out import WeightAverage, held_out_score

CPU = torch.device("cpu")


def test_draws_leave_training_as_it_was() -> None:
    settings = {"objective": plain_elbo, "steps": 6, "batch_size": 32, "device": "cpu"}
    quiet, noisy = model(), model()
    fit(quiet, digits(), TrainConfig(**settings))
    fit(noisy, digits(), TrainConfig(**settings, validate_every=1), held_out=lambda m: float(torch.rand(())))
    for one, other in zip(quiet.parameters(), noisy.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_model_is_judged_in_evaluation_mode_and_trained_on_afterwards() -> None:
    judged = model().train()

    def score(seen: nn.Module) -> float:
        assert not seen.training
        assert not torch.is_grad_enabled()
        torch.rand(3)
        return 0.25

    before = torch.get_rng_state()
    assert held_out_score(judged, None, score, 1, CPU) == 0.25
    assert judged.training
    assert torch.equal(torch.get_rng_state(), before)


def test_an_error_of_the_score_leaves_the_model_in_training_mode() -> None:
    judged = model().train()

    def score(seen: nn.Module) -> float:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        held_out_score(judged, None, score, 1, CPU)
    assert judged.training


def test_averaged_weights_are_judged_where_there_are_such() -> None:
    judged = nn.Linear(1, 1, bias=False)
    average = WeightAverage(judged, 0.5)
    with torch.no_grad():
        judged.weight.add_(1.0)
    old, new = average.averages[0].item(), judged.weight.item()
    assert held_out_score(judged, average, lambda seen: seen.weight.item(), 1, CPU) == old
    assert judged.weight.item() == new
