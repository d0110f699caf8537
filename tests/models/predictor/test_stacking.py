"""Stacks: the better member gets the weight, nothing is made worse by an over-confident one, and numbers shrink."""

import numpy as np
import torch

from unknot.models.predictor.stacking import (
    ClassStack,
    NumberStack,
    _exponents,
    cross_fitted,
    make_stack,
    mixture_weights,
)
from unknot.models.predictor.targets import deal


def members(n: int = 300, sure: float = 4.0) -> tuple[torch.Tensor, np.ndarray]:
    """A member that knows the class, a guess at random, and one that is right but far too sure: (3, n, 2)."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, n)
    sign = 2.0 * y - 1
    good, chance = sign + draw.normal(size=n), draw.normal(size=n)
    logits = torch.tensor(np.stack([good, chance, 3 * sure * good])).float()
    return torch.stack([torch.sigmoid(-logits), torch.sigmoid(logits)], -1), y


def test_equal_members_have_equal_weights_and_a_bad_one_loses_its_weight() -> None:
    equal = mixture_weights(torch.full((2, 50), -0.5))
    torch.testing.assert_close(equal, torch.tensor([0.5, 0.5]))
    assert float(mixture_weights(torch.tensor([[-0.1], [-5.0]]).expand(2, 50))[1]) < 0.05


def test_an_informed_member_gets_the_weight_and_a_guess_does_not() -> None:
    predictions, y = members()
    stack = ClassStack(2, 2).fit(predictions[:2], deal(y, 2))
    assert isinstance(stack, ClassStack)
    assert float(stack.exponents[0]) > 5 * float(stack.exponents[1])
    combined = stack(predictions[:2])
    torch.testing.assert_close(combined.sum(1), torch.ones(len(y)))


def test_a_member_that_is_too_sure_is_cooled() -> None:
    predictions, y = members()
    stack = ClassStack(1, 2).fit(predictions[2:], deal(y, 2))
    combined = stack(predictions[2:])
    confidence = float(combined.max(1).values.mean())
    accuracy = float((combined.argmax(1).numpy() == y).mean())
    assert abs(confidence - accuracy) < 0.05
    assert float(predictions[2].max(1).values.mean()) > accuracy + 0.08


def test_a_useless_member_leaves_the_class_shares() -> None:
    y = (np.arange(200) < 150).astype(np.int64)
    useless = torch.tensor(np.random.default_rng(0).dirichlet([1, 1], (1, 200))).float()
    combined = ClassStack(1, 2).fit(useless, deal(y, 2))(useless)
    np.testing.assert_allclose(combined.mean(0), [0.25, 0.75], atol=0.05)
    assert float(combined.std(0).max()) < 0.1


def test_exponents_are_those_of_a_grid() -> None:
    predictions, y = members(n=60)
    logs = predictions[:2].log()
    grid = torch.cartesian_prod(*[torch.linspace(0, 3, 61)] * 2)
    logits = torch.einsum("gm,mnk->gnk", grid, logs)
    fits = logits.log_softmax(-1)[:, torch.arange(60), torch.from_numpy(y)].sum(1)
    best = grid[(fits - 2.0 * (grid - 0.7).square().sum(1)).argmax()]
    found = _exponents(logs, torch.from_numpy(y))
    torch.testing.assert_close(found, best, atol=0.03, rtol=0)


def test_labels_of_a_class_that_no_other_fold_has_do_not_count() -> None:
    predictions, y = members(n=40)
    predictions = torch.cat([predictions, torch.full((3, 40, 1), 1e-6)], 2)
    lonely = deal(np.where(np.arange(40) == 7, 2, y), 3)
    others = np.arange(40) != 7
    with_it = ClassStack(3, 3).fit(predictions, lonely)
    without = ClassStack(3, 3).fit(predictions[:, others], lonely.select(others))
    torch.testing.assert_close(with_it.exponents, without.exponents, atol=0.02, rtol=0)


def test_numbers_have_weights_of_at_most_one_and_a_guess_is_the_mean() -> None:
    draw = np.random.default_rng(0)
    y = draw.normal(size=(100, 1))
    good, chance = y + 0.1 * draw.normal(size=y.shape), draw.normal(size=y.shape)
    both = torch.tensor(np.stack([good, chance])).float()
    stack = NumberStack(2, 1).fit(both, deal(y, 1))
    assert isinstance(stack, NumberStack)
    assert float(stack.weights[0]) > 0.9
    assert float(stack.weights.sum()) <= 1.0001
    alone = NumberStack(1, 1).fit(both[1:], deal(y, 1))
    assert float(alone(both[1:]).std()) < 0.3


def test_cross_fitted_predictions_come_from_stacks_without_the_fold() -> None:
    predictions, y = members(n=30)
    targets = deal(y, 2)
    found = cross_fitted(predictions, targets)
    hidden = targets.fold == 0
    stack = make_stack(3, 2, classes=True).fit(predictions[:, ~hidden], targets.select(~hidden))
    np.testing.assert_allclose(found[hidden], stack(predictions[:, hidden]), rtol=1e-6)
