"""Raters: the confusion matrices of people who label, learned with a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

_RIGHT = 0.7  # share of right votes that the prior expects
_PSEUDO_VOTES = 2.0  # of the Dirichlet prior of each row
_SWEEPS = 50


class Raters(nn.Module):
    """p(reported class | class) of M raters with K classes, a matrix ``(K, K)`` for each.

    The rows have Dirichlet priors of two votes in all, of which 70 % are right. Training starts from the matrices that
    EM finds without the items (Dawid and Skene 1979) and learns them further with the model, which knows more about
    the classes than the votes do.

    Parameters
    ----------
    raters : int
        M.
    classes : int
        K.
    """

    def __init__(self, raters: int, classes: int) -> None:
        super().__init__()
        wrong = (1 - _RIGHT) / max(classes - 1, 1)
        prior = torch.full((classes, classes), wrong) + torch.eye(classes) * (_RIGHT - wrong)
        self.register_buffer("prior", prior)
        self.prior: Tensor
        self.logits = nn.Parameter(prior.log().repeat(raters, 1, 1))

    def confusion(self) -> Tensor:
        """Return the matrices, ``(M, K, K)``; rows are classes, columns reports."""
        return self.logits.softmax(-1)

    def log_prior(self) -> Tensor:
        """Return the logarithm of the Dirichlet density of all rows, but for a constant."""
        return _PSEUDO_VOTES * (self.prior * self.logits.log_softmax(-1)).sum()

    def log_potential(self, votes: Tensor) -> Tensor:
        """Return log p(votes | class) for votes ``(B, M)``, -1 for none: ``(B, K)``."""
        reported = self.logits.log_softmax(-1).mT[
            torch.arange(votes.shape[1]), votes.clamp_min(0)
        ]  # (B, M, K)
        return torch.where((votes >= 0)[..., None], reported, 0.0).sum(1)

    @torch.no_grad()
    def learn(self, factor: Any) -> None:
        """Start from the result of EM on the votes of a :class:`~unknot.data.factor.Factor` alone.

        The class of an item is unknown, unless it has a label; its first guess are the shares of its votes. Items with
        fewer than three votes and no label are left out, because agreement of two raters does not tell their errors
        apart: if there are no others, the matrices start from the prior.
        """
        votes, values = factor.votes, factor.values
        classes = len(self.prior)
        marks = one_hot(votes.clamp_min(0), classes) * (votes >= 0)[..., None]  # (N, M, K)
        marks = marks.to(self.logits.dtype)
        certain = one_hot(values.clamp_min(0), classes).to(marks)
        rows = (votes >= 0).sum(1) + 2 * (values >= 0) > 2
        belief = marks.sum(1) + 1e-3
        for _ in range(_SWEEPS):
            belief = torch.where((values >= 0)[:, None], certain, belief / belief.sum(1, keepdim=True))
            known = belief * rows[:, None]
            counts = torch.einsum("nk,nmr->mkr", known, marks) + _PSEUDO_VOTES * self.prior
            self.logits.copy_((counts / counts.sum(-1, keepdim=True)).log())
            shares = (known.sum(0) + 1).log()
            belief = (shares + self.log_potential(votes)).softmax(-1)

    @torch.no_grad()
    def as_evidence(self, factor: Any) -> Any:
        """Return a factor with log-potentials instead of votes; a label excludes all other classes."""
        potential = self.log_potential(factor.votes)
        others = one_hot(factor.values.clamp_min(0), potential.shape[1]) == 0
        potential = torch.where(factor.known[:, None] & others, -torch.inf, potential)
        return replace(factor, evidence=potential - potential.amax(1, keepdim=True), votes=None, raters=())
