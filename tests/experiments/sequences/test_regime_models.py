"""Sequences with regimes: the data, our switching models, and the baselines."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch.distributions import Normal

from experiments.sequences.regime_models import (
    REGIMES,
    GaussianChain,
    SwitchingModel,
    drawn_sequences,
    dynamics,
    fit_gru,
    fit_switching,
    named_by_labels,
    some_labels,
)


def test_regimes_switch_with_the_stated_probability() -> None:
    regime = drawn_sequences(2000, 0).regime
    switched = (regime[:, 1:] != regime[:, :-1]).double().mean()
    assert (
        abs(float(switched) - 0.05) < 5 * (0.05 * 0.95 / 118_000) ** 0.5
    )  # five standard errors: 1 in a million


def test_labels_are_the_stated_share() -> None:
    regime = drawn_sequences(20, 0).regime
    labels = some_labels(regime, 0.05, 0)
    known = labels >= 0
    assert int(known.sum()) == round(0.05 * regime.numel())
    assert torch.equal(labels[known], regime[known])


def test_the_log_evidence_of_the_autoregression_is_the_sum_over_all_paths() -> None:
    torch.manual_seed(0)
    model = SwitchingModel(states=False)
    x, steps = drawn_sequences(3, 0, steps=4).x, 4
    labels = torch.full((3, steps), -1)
    labels[0, 2] = 1
    log_joint = []
    for path in itertools.product(range(REGIMES), repeat=steps):
        total = Normal(0.0, 1.0).log_prob(x[:, 0]).sum(-1) + model.start.log_softmax(-1)[path[0]]
        for t in range(1, steps):
            mean = x[:, t - 1] @ model.matrix[path[t]].T + model.offset[path[t]]
            total = total + Normal(mean, model.log_scale[path[t]].exp()).log_prob(x[:, t]).sum(-1)
            total = total + model.move.log_softmax(-1)[path[t - 1], path[t]]
        log_joint.append(torch.where(torch.arange(3) == 0, 0.0 if path[2] == 1 else -torch.inf, 0.0) + total)
    torch.testing.assert_close(model.log_evidence(x, labels), torch.stack(log_joint).logsumexp(0))


@pytest.mark.parametrize("states", [True, False])
def test_labels_name_the_regimes_and_predictions_follow(states: bool) -> None:
    """A model with the true dynamics in a wrong order is put in order by few labels."""
    torch.manual_seed(0)
    model = SwitchingModel(states)
    data = drawn_sequences(60, 0)
    with torch.no_grad():
        model.matrix.copy_(dynamics()[[2, 0, 1]])
        model.log_scale.fill_(-0.5)
    model.rename(data.x, some_labels(data.regime, 0.05, 0))
    torch.testing.assert_close(model.matrix.detach(), dynamics())
    if not states:
        assert (model.predict(data.x) == data.regime).double().mean() > 0.6


def test_training_raises_the_evidence() -> None:
    data = drawn_sequences(40, 0, steps=20)
    none = torch.full((40, 20), -1)
    first, last = (fit_switching(False, data.x, none, steps, 0) for steps in (0, 40))
    assert last.log_evidence(data.x, none).mean() > first.log_evidence(data.x, none).mean() + 1


def test_the_gru_predicts_regimes_of_steps() -> None:
    data = drawn_sequences(30, 0)
    assert fit_gru(data.x, some_labels(data.regime, 0.05, 0), 2, 0).predict(data.x).shape == (30, 60)


def test_em_finds_dynamics_from_pairs_of_steps() -> None:
    pytest.importorskip("hmmlearn")
    data = drawn_sequences(100, 0)
    model = GaussianChain(pairs=True, starts=2, seed=0).fit(data.x)
    states = model.predict(data.x)
    assert states.shape == data.regime.shape
    named = named_by_labels(states, data.regime)[states]
    assert (named == data.regime).double().mean() > 0.55


def test_states_are_named_by_most_of_their_labels() -> None:
    states = torch.tensor([[2, 2, 0, 1, 1]])
    labels = torch.tensor([[0, 0, 1, 2, -1]])
    assert named_by_labels(states, labels).tolist() == [1, 2, 0]
