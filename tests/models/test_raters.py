"""Raters: EM on votes finds the matrices of simulated raters, and the potentials are those of Bayes' rule."""

import pytest
import torch

from unknot.data.factor import Factor
from unknot.models.raters import Raters

TRUE = torch.tensor([
    [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]],
    [[0.6, 0.2, 0.2], [0.1, 0.8, 0.1], [0.0, 0.1, 0.9]],
    [[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.3, 0.0, 0.7]],
])  # fmt: skip


def votes_of(y: torch.Tensor, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.multinomial(rater[y], 1, generator=generator)[:, 0] for rater in TRUE], 1)


def factor_of(votes: torch.Tensor, values: torch.Tensor | None = None) -> Factor:
    values = torch.full((len(votes),), -1) if values is None else values
    names = tuple(f"r{m}" for m in range(votes.shape[1]))
    return Factor("kind", "categorical", values, ("a", "b", "c"), votes=votes, raters=names)


def test_potentials_are_products_of_what_raters_report():
    raters = Raters(3, 3)
    with torch.no_grad():
        raters.logits.copy_((TRUE + 1e-9).log())
    found = raters.log_potential(torch.tensor([[0, -1, 2], [1, 1, 1], [-1, -1, -1]])).exp()
    expected = torch.stack([TRUE[0, :, 0] * TRUE[2, :, 2], TRUE[:, :, 1].prod(0), torch.ones(3)])
    assert torch.allclose(found, expected, atol=1e-6)
    assert torch.allclose(raters.confusion(), TRUE, atol=1e-6)


def test_em_finds_the_matrices_of_many_votes():
    y = torch.arange(6000) % 3
    raters = Raters(3, 3)
    raters.learn(factor_of(votes_of(y, 0)))
    found = raters.confusion().detach()
    # the standard error of an entry is at most .012, with classes that are not observed about twice that
    assert float((found - TRUE).abs().max()) < 0.1
    assert float((found - TRUE).abs().mean()) < 0.03


def test_labels_make_matrices_shares_of_votes():
    y = torch.arange(300) % 3
    votes = votes_of(y, 1)
    raters = Raters(3, 3)
    raters.learn(factor_of(votes, y))
    counted = torch.stack([torch.bincount(votes[y == 1, 0], minlength=3)]).double()
    expected = (counted + 2 * raters.prior[1]) / (100 + 2)
    assert raters.confusion()[0, 1].tolist() == pytest.approx(expected[0].tolist(), abs=1e-6)


def test_two_votes_do_not_tell_the_errors_of_two_raters_apart():
    raters = Raters(2, 3)
    before = raters.confusion().clone()
    raters.learn(factor_of(votes_of(torch.arange(90) % 3, 2)[:, :2]))
    assert torch.allclose(raters.confusion(), before, atol=1e-6)


def test_votes_become_evidence_beside_labels():
    raters = Raters(2, 3)
    factor = factor_of(torch.tensor([[0, 1], [-1, -1], [2, -1]]), torch.tensor([-1, -1, 0]))
    made = raters.as_evidence(factor)
    assert made.votes is None
    assert made.evidence[1].tolist() == [0, 0, 0]
    assert made.evidence[2].tolist() == [0, -torch.inf, -torch.inf]
    assert made.evidence[0].exp().tolist() == pytest.approx([1, 1, 0.15 / 0.7], abs=1e-5)
