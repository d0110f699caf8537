"""What members say of a factor: densities, mixtures, units."""

import math

import pytest
import torch
from torch.distributions import Categorical, Normal

from unknot.core.evidence import partial
from unknot.core.trace import Trace
from unknot.data import Votes, from_arrays
from unknot.errors import SpecError
from unknot.models.ensemble.factors import (
    MemberClasses,
    MemberFactor,
    MemberNumbers,
    inverse_temperature,
    member_factor,
    mixture_weights,
    shrinkage,
)
from unknot.models.ensemble.spec import EnsembleSpec, Setting, factor_node

SETTINGS = (Setting(), Setting(generative=False))


def factor(family: str, size: int) -> MemberFactor:
    node = factor_node("f", "x", family, size)
    spec = EnsembleSpec(({"name": "a", "kind": "real"},), (node,), 10, 2, folds=2, settings=SETTINGS)
    return member_factor(node, spec, 2)


def test_labels_are_scored_by_each_member() -> None:
    classes, out = factor("concrete", 3), torch.randn(4, 5, 3)
    labels = torch.tensor([0, 2, 1, 1, 0])
    for m in range(4):
        torch.testing.assert_close(classes.log_q(out, labels)[m], Categorical(logits=out[m]).log_prob(labels))
    numbers = factor("normal", 2)
    assert isinstance(numbers, MemberNumbers)
    with torch.no_grad():
        numbers.log_noise.normal_()
    found = numbers.log_q(out[..., :2], out[0, :, 1:])
    for m in range(4):
        each = Normal(out[m, :, :2], numbers.log_noise[m].exp()).log_prob(out[0, :, 1:])
        torch.testing.assert_close(found[m], each.sum(-1))


def test_classes_start_at_smoothed_shares() -> None:
    classes = factor("concrete", 2)
    visible = torch.tensor([[True, True, False], [True, False, True], [True] * 3, [False] * 3])
    with torch.no_grad():
        start = classes.learn(partial(torch.tensor([0, 1, 0])), visible)
    assert start is not None
    torch.testing.assert_close(
        start.exp(), torch.tensor([[2 / 4, 2 / 4], [3 / 4, 1 / 4], [3 / 5, 2 / 5], [0.5, 0.5]])
    )
    assert isinstance(classes, MemberClasses)
    torch.testing.assert_close(classes.prior.exp(), start[:2].exp())


def test_the_ensemble_says_the_mixture() -> None:
    classes, out = factor("concrete", 3), torch.randn(4, 5, 3)
    classes.weights.copy_(torch.tensor([0.75, 0.25]))
    q = Trace()
    classes.joint_site(q, out, None)
    probs = out.softmax(-1)
    expected = 0.75 * (probs[0] + probs[1]) / 2 + 0.25 * (probs[2] + probs[3]) / 2
    torch.testing.assert_close(q["f"].dist.probs, expected)


def test_a_mixture_of_numbers_has_its_mean_and_variance_in_the_labels_units() -> None:
    numbers, out = factor("normal", 1), torch.randn(4, 5, 1)
    assert isinstance(numbers, MemberNumbers)
    with torch.no_grad():
        numbers.learn(partial(torch.tensor([[10.0], [14.0]])), torch.ones(4, 2, dtype=torch.bool))
    numbers.errors.copy_(torch.tensor([[0.5], [2.0]]))
    q = Trace()
    numbers.joint_site(q, out, None)
    noise = torch.tensor([0.5, 0.5, 2.0, 2.0])[:, None, None]
    draws = Normal(out, noise).sample(torch.Size((40_000,))).flatten(0, 1)  # equal weights
    torch.testing.assert_close(q["f"].dist.mean, 2 * draws.mean(0) + 12, atol=0.05, rtol=0.02)
    torch.testing.assert_close(q["f"].dist.stddev, 2 * draws.std(0), atol=0.05, rtol=0.02)


def test_hidden_labels_choose_the_setting_that_knows() -> None:
    labels = torch.arange(20) % 2
    classes = factor("concrete", 2)
    knows = 3.0 * torch.eye(2)[labels]
    classes.fit_stacking(torch.stack([knows, torch.zeros(20, 2)]), labels)
    assert classes.weights[0] > 0.8
    numbers = factor("normal", 1)
    truth = torch.randn(20, 1)
    numbers.fit_stacking(torch.stack([torch.zeros(20, 1), truth + 0.1 * torch.randn(20, 1)]), truth)
    assert numbers.weights[1] > 0.8
    assert isinstance(numbers, MemberNumbers)
    assert 0.05 < numbers.errors[1] < 0.2


def test_what_is_not_believed_is_the_labels_mean_and_spread() -> None:
    numbers = factor("normal", 1)
    assert isinstance(numbers, MemberNumbers)
    draw = torch.Generator().manual_seed(0)
    labels, wild = torch.randn(40, 1, generator=draw), 2 * torch.randn(2, 40, 1, generator=draw)
    with torch.no_grad():
        numbers.learn(partial(labels), torch.ones(4, 40, dtype=torch.bool))
    numbers.fit_stacking(wild, labels)
    believed = float(numbers.weights.sum())
    assert 0 < believed < 0.7
    q, out = Trace(), torch.randn(4, 5, 1, generator=draw)
    numbers.joint_site(q, out, None)
    share = numbers.weights.repeat_interleave(2)[:, None, None] / 2
    mean = (share * out).sum(0)
    square = (share * (out**2 + numbers.errors.repeat_interleave(2, 0)[:, None] ** 2)).sum(0) + 1 - believed
    spread = labels.std(0, correction=0)
    torch.testing.assert_close(q["f"].dist.mean, mean * spread + labels.mean(0))
    torch.testing.assert_close(q["f"].dist.stddev, (square - mean**2).sqrt() * spread)


# ---- stacking ---------------------------------------------------------------------------------------------


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
    assert math.isclose(float(shrinkage(guess, truth)), best, abs_tol=1e-3)


def test_a_guess_against_the_truth_is_hardly_believed_and_none_is_believed_beyond_itself() -> None:
    truth = torch.randn(400, 1, generator=torch.Generator().manual_seed(3))
    assert shrinkage(-truth, truth) == 0
    assert shrinkage(0.5 * truth, truth) == 1
    assert shrinkage(torch.zeros(5, 1), truth[:5]) == 1  # the mean itself


def test_evidence_is_scored_by_the_sum_over_the_classes() -> None:
    classes, out = factor("concrete", 3), torch.randn(4, 5, 3, dtype=torch.float64)
    assert isinstance(classes, MemberClasses)
    weights = torch.tensor([[1.0, 0, 0], [1, 1, 0], [1, 1, 1], [0.5, 0, 0.2], [0, 0, 1]], dtype=torch.float64)
    found = classes.log_q_evidence(out, weights.log())
    torch.testing.assert_close(found, (out.softmax(-1) * weights).sum(-1).log())
    torch.testing.assert_close(found[:, 0], classes.log_q(out, torch.zeros(5, dtype=torch.int64))[:, 0])
    torch.testing.assert_close(found[:, 2], torch.zeros(4, dtype=torch.float64))


def test_a_batch_says_of_a_factor_what_no_single_label_says() -> None:
    classes = factor("concrete", 3)
    data = from_arrays(torch.zeros(3, 1), {"f": ["a", ["a", "b"], "c"]})
    evidence = classes.evidence(data.batch([0, 1, 2]))
    assert evidence is not None
    assert evidence.exp().tolist() == [[1, 1, 1], [1, 1, 0], [1, 1, 1]]  # labels may be hidden from members
    assert classes.evidence(from_arrays(torch.zeros(1, 1), {"f": ["a"]}).batch([0])) is None
    votes = from_arrays(torch.zeros(1, 1), {"f": Votes({"Ann": ["a"]})}).batch([0])
    with pytest.raises(SpecError, match="the factor has no raters"):
        classes.evidence(votes)
