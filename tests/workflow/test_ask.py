"""Asking: the greedy choice against a slow twin, its laws, and the items that are asked for."""

import itertools

import numpy as np
import pytest
import torch

from unknot.errors import SpecError
from unknot.estimator import StructuredVAE
from unknot.workflow.ask import most_telling


def random_members(seed: int, m: int, n: int, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    members = (2 * torch.randn(m, n, k, generator=generator, dtype=torch.float64)).softmax(-1)
    return members, torch.rand(m, generator=generator, dtype=torch.float64).softmax(0)


def slow_order(members: np.ndarray, weights: np.ndarray, k: int) -> tuple[list[int], list[float]]:
    """The definition, item by item: try every item, and invert the whole posterior precision of θ."""
    mean = np.einsum("m,mnk->nk", weights, members)
    a = np.sqrt(weights)[:, None, None] * (members - mean)
    precision, order, shares = np.eye(len(weights)), [], []

    def trace(of: np.ndarray) -> float:
        covariance = np.linalg.inv(of)
        return sum(np.trace(a[:, j].T @ covariance @ a[:, j]) for j in range(a.shape[1]))

    start = trace(precision)
    for _ in range(k):
        after = {}
        for i in range(a.shape[1]):
            if i not in order:
                after[i] = precision + sum(
                    np.outer(a[:, i, c], a[:, i, c]) / mean[i, c] for c in range(mean.shape[1])
                )
        best = min(after, key=lambda i: trace(after[i]))
        precision = after[best]
        order.append(best)
        shares.append(trace(precision) / start)
    return order, shares


@pytest.mark.parametrize(("m", "n", "k"), [(2, 3, 2), (3, 3, 3), (3, 7, 2), (5, 6, 3)])
def test_the_choice_is_that_of_the_slow_twin(m, n, k):
    members, weights = random_members(m * n * k, m, n, k)
    order, shares = most_telling(members, weights, 3)
    slow, slow_shares = slow_order(members.numpy(), weights.numpy(), 3)
    assert order.tolist() == slow
    assert shares.tolist() == pytest.approx(slow_shares, abs=1e-9)


def test_copies_of_a_chosen_item_come_late():
    members, weights = random_members(0, 4, 6, 3)
    twins = torch.cat([members] + [members[:, :1]] * 3, 1)
    twins = torch.cat([twins, twins[:, 1:2]], 1)
    order, shares = most_telling(twins, weights, 4)
    assert len({0 if i in (0, 6, 7, 8) else 1 if i in (1, 9) else i for i in order.tolist()}) >= 3
    assert all(later <= earlier for earlier, later in itertools.pairwise(shares))


def test_items_on_which_all_members_agree_tell_nothing():
    members, weights = random_members(1, 3, 4, 2)
    members[:, 2] = members[:1, 2]
    order, _ = most_telling(members, weights, 4)
    assert order.tolist()[-1] == 2


def blobs(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return (rng.normal(size=(n, 4)) + 2.0 * np.eye(3, 4)[y]).astype(np.float32), y


def test_an_estimator_asks_for_items_of_its_pool():
    x, y = blobs(60)
    labels = np.where(np.arange(60) < 12, y, -1)
    vae = StructuredVAE(steps=20, verbose=False, verdict=False).fit(x, kind=labels)
    rows = vae.ask(x[12:], 5)
    assert rows.shape == (5,)
    assert len(set(rows.tolist())) == 5
    assert rows.max() < 48
    with pytest.raises(SpecError, match="chooses from 1 to 48 items"):
        vae.ask(x[12:], 49)


def test_a_model_without_members_is_refused():
    x, y = blobs(30)
    vae = StructuredVAE("class_style", steps=2, cross_fit=0, verbose=False, verdict=False).fit(x, kind=y)
    with pytest.raises(SpecError, match="fit a default model on at least 8 labels"):
        vae.ask(x, 2)
