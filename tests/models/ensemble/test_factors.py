"""What members say of a factor: densities, mixtures, units."""

import torch
from torch.distributions import Categorical, Normal

from unknot.core.evidence import partial
from unknot.core.trace import Trace
from unknot.models.ensemble.factors import MemberClasses, MemberFactor, MemberNumbers, member_factor
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
    classes.conclude(torch.stack([knows, torch.zeros(20, 2)]), labels)
    assert classes.weights[0] > 0.8
    numbers = factor("normal", 1)
    truth = torch.randn(20, 1)
    numbers.conclude(torch.stack([torch.zeros(20, 1), truth + 0.1 * torch.randn(20, 1)]), truth)
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
    numbers.conclude(wild, labels)
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
