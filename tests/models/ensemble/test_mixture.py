"""Weights and temperature of a mixture, against plain searches."""

import math

import torch

from unknot.models.ensemble.mixture import belief, inverse_temperature, mixture_weights


def log_posterior(weights: list[float], log_prob: torch.Tensor) -> float:
    total = sum(2 / len(weights) * math.log(w) for w in weights)
    for i in range(log_prob.shape[1]):
        total += math.log(sum(w * math.exp(log_prob[s, i]) for s, w in enumerate(weights)))
    return total


def test_no_other_weights_are_likelier() -> None:
    draw = torch.Generator().manual_seed(0)
    log_prob = torch.randn(3, 15, generator=draw)
    best = log_posterior(mixture_weights(log_prob).tolist(), log_prob)
    for _ in range(200):
        other = torch.rand(3, generator=draw) + 1e-3
        assert log_posterior((other / other.sum()).tolist(), log_prob) <= best + 1e-3


def test_settings_that_say_the_same_share_alike() -> None:
    torch.testing.assert_close(mixture_weights(torch.full((4, 10), -0.7)), torch.full((4,), 0.25))


def test_the_temperature_is_the_best_of_a_plain_search() -> None:
    draw = torch.Generator().manual_seed(1)
    log_prob = (3 * torch.randn(40, 3, generator=draw)).log_softmax(-1)
    labels = torch.randint(3, (40,), generator=draw)

    def value(log_t: float) -> float:
        total = -4 * log_t**2
        for row, label in zip(log_prob.tolist(), labels.tolist(), strict=True):
            powers = [math.exp(math.exp(log_t) * v) for v in row]
            total += math.log(powers[label] / sum(powers))
        return total

    best = max((i / 20 for i in range(-24, 25)), key=value)
    assert math.isclose(math.log(inverse_temperature(log_prob, labels)), best, abs_tol=0.051)


def test_sure_and_right_grows_sharper_sure_and_wrong_softer() -> None:
    sure = torch.tensor([[0.8, 0.2]]).log().expand(50, 2)
    assert inverse_temperature(sure, torch.zeros(50, dtype=torch.long)) > 1
    assert inverse_temperature(sure, torch.arange(50) % 2) < 1


def test_belief_is_the_best_slope_of_a_plain_search() -> None:
    draw = torch.Generator().manual_seed(2)
    truth = torch.randn(30, 2, generator=draw)
    guess = 0.8 * truth + 1.2 * torch.randn(30, 2, generator=draw)
    pairs = list(zip(guess.flatten().tolist(), truth.flatten().tolist(), strict=True))
    error = sum((g - y) ** 2 for g, y in pairs) / len(pairs)

    def value(
        b: float,
    ) -> float:  # a normal prior around one, whose precision is that of 16 numbers of length one
        return -sum((y - b * g) ** 2 for g, y in pairs) / error - 16 * (b - 1) ** 2

    best = max((i / 1000 for i in range(1001)), key=value)
    assert math.isclose(float(belief(guess, truth)), best, abs_tol=1e-3)


def test_a_guess_against_the_truth_is_hardly_believed_and_none_is_believed_beyond_itself() -> None:
    truth = torch.randn(400, 1, generator=torch.Generator().manual_seed(3))
    assert belief(-truth, truth) == 0
    assert belief(0.5 * truth, truth) == 1
    assert belief(torch.zeros(5, 1), truth[:5]) == 1  # the mean itself
