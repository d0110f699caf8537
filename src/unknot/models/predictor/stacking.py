"""Stacking: how the predictions of several members are combined, by labels that were hidden from them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor, nn

from unknot.models.predictor.calibration import LABELS_PER_CLASS, class_offsets
from unknot.models.predictor.targets import Targets

_SWEEPS = 300
PSEUDO_LABELS = 2.0  # of the Dirichlet prior on the weights, in all
_EXPONENTS, _EXPONENT_PRECISION = (
    1.4,
    2.0,
)  # of the prior: the sum of the exponents, and how strong it is per member
_HIGHEST = 3.0  # exponent
_SMOOTHING = 0.5  # labels' worth of the class shares in each prediction
_SMALLEST = 1e-9
_PSEUDO_ERRORS = 4.0  # labels' worth of the prior on the weights of numbers


def mixture_weights(log_prob: Tensor) -> Tensor:
    """Return the weights w of S members by ``log_prob`` (S, n), the log-probabilities of labels hidden from each.

    Maximizes ``Σ_i log Σ_s w_s p_s(y_i) + (2/S) Σ_s log w_s`` by EM, from equal weights: stacking with a Dirichlet
    prior of two labels in all.

    >>> mixture_weights(torch.tensor([[-0.1, -0.1], [-3.0, -3.0]])).round(decimals=1)
    tensor([0.7000, 0.3000])
    """
    members = len(log_prob)
    likelihood = (log_prob - log_prob.amax(0)).exp()
    weights = torch.full((members,), 1 / members, dtype=log_prob.dtype, device=log_prob.device)
    for _ in range(_SWEEPS):
        shares = weights[:, None] * likelihood
        weights = (shares / shares.sum(0)).sum(1) + PSEUDO_LABELS / members
        weights = weights / weights.sum()
    return weights


class Stack(nn.Module, ABC):
    """Combine the predictions of M members, ``(M, B, K)``, to one, ``(B, K)``."""

    @abstractmethod
    def forward(self, members: Tensor) -> Tensor:
        """Return the combined predictions."""

    @abstractmethod
    def fit(self, members: Tensor, targets: Targets) -> Stack:
        """Fit the stack to the members' out-of-fold predictions ``(M, n, K)``; returns itself."""


class ClassStack(Stack):
    """p(y = k) ∝ exp(b_k) Π_m p̃_m(k)^a_m: a logarithmic opinion pool with exponents a_m of at least 0.

    p̃_m is a member's prediction with some of the class shares of the labels, so that no class is impossible. The
    exponents maximize the log-probability of the labels, with a normal prior around equal ones; they are weights and
    temperatures at once. Offsets b are used where there are ten labels per class and cross-validation says that they
    lower the log loss. Labels of a class that no other fold has do not count: a member that has not seen the
    class tells nothing about one that has.

    Parameters
    ----------
    members : int
        M.
    outputs : int
        The number of classes K.
    """

    def __init__(self, members: int, outputs: int) -> None:
        super().__init__()
        self.register_buffer("exponents", torch.full((members,), _EXPONENTS / members))
        self.register_buffer("shares", torch.full((outputs,), 1 / outputs))
        self.register_buffer("smoothing", torch.zeros(()))
        self.register_buffer("offsets", torch.zeros(outputs))
        self.exponents: Tensor
        self.shares: Tensor
        self.smoothing: Tensor
        self.offsets: Tensor

    @property
    def weights(self) -> Tensor:
        """The members' shares of the exponents, ``(M,)``; equal if all are 0."""
        total = self.exponents.sum()
        return (
            self.exponents / total if total > 0 else torch.full_like(self.exponents, 1 / len(self.exponents))
        )

    def forward(self, members: Tensor) -> Tensor:
        return (self._pooled(members) + self.offsets).softmax(-1)

    def fit(self, members: Tensor, targets: Targets) -> ClassStack:
        count, outputs = len(targets), targets.outputs
        counts = torch.from_numpy(np.bincount(targets.values, minlength=outputs))
        self.shares.copy_((counts + 1) / (count + outputs))
        self.smoothing.fill_(_SMOOTHING / count)
        rows = _seen_elsewhere(targets)
        members, targets = members[:, rows], targets.select(rows)
        labels = torch.from_numpy(targets.values)
        self.exponents.copy_(_exponents(self._logs(members), labels))
        self.offsets.zero_()
        pooled = self._pooled(members).log_softmax(-1)
        if _offsets_help(pooled, targets):
            self.offsets.copy_(class_offsets(pooled, labels))
        return self

    def _logs(self, members: Tensor) -> Tensor:
        """Return log p̃, ``(M, B, K)``."""
        return ((1 - self.smoothing) * members + self.smoothing * self.shares).clamp_min(_SMALLEST).log()

    def _pooled(self, members: Tensor) -> Tensor:
        return torch.einsum("m,mbk->bk", self.exponents, self._logs(members))


def _seen_elsewhere(targets: Targets) -> np.ndarray:
    """Return which labels are of a class that another fold has too, bool ``(n,)``; all, if none is."""
    in_fold = np.zeros((targets.folds, targets.outputs))
    np.add.at(in_fold, (targets.fold, targets.values), 1)
    rows = in_fold.sum(0)[targets.values] > in_fold[targets.fold, targets.values]
    return rows if rows.any() else np.ones(len(targets), bool)


def _exponents(logs: Tensor, labels: Tensor) -> Tensor:
    """Return a ``(M,)`` that maximize ``Σ_i log softmax(Σ_m a_m log p̃_m)[y_i] - λ M/2 Σ_m (a_m - a_0)²``."""
    from scipy.optimize import minimize

    values, y = logs.double().numpy(), labels.numpy()
    count, rows = len(values), np.arange(len(y))
    usual = np.full(count, _EXPONENTS / count)

    def loss(exponents: np.ndarray) -> tuple[float, np.ndarray]:
        logits = np.einsum("m,mnk->nk", exponents, values)
        top = logits.max(1, keepdims=True)
        odds = np.exp(logits - top)
        total = odds.sum(1, keepdims=True)
        value = (np.log(total) + top).sum() - logits[rows, y].sum()
        gradient = (odds / total * values).sum((1, 2)) - values[:, rows, y].sum(1)
        precision = _EXPONENT_PRECISION * count
        apart = exponents - usual
        return value + precision / 2 * apart @ apart, gradient + precision * apart

    found = minimize(loss, usual, jac=True, bounds=[(0, _HIGHEST)] * count, method="L-BFGS-B").x
    return torch.from_numpy(found).to(logs.dtype)


def _offsets_help(log_prob: Tensor, targets: Targets) -> bool:
    """Whether class offsets, fitted to the other folds, lower the log loss of each fold on the whole."""
    if len(targets) < LABELS_PER_CLASS * log_prob.shape[1]:
        return False
    labels, fold = torch.from_numpy(targets.values), torch.from_numpy(targets.fold)
    gain = 0.0
    for k in fold.unique():
        hidden = fold == k
        offsets = class_offsets(log_prob[~hidden], labels[~hidden])
        rows = torch.arange(int(hidden.sum()))
        before, after = log_prob[hidden], log_prob[hidden] + offsets
        gains = after.log_softmax(-1) - before.log_softmax(-1)
        gain += float(gains[rows, labels[hidden]].sum())
    return gain > 0


class NumberStack(Stack):
    """c + Σ_m w_m (g_m - c), with w_m at least 0 and at most 1 in all; c is the mean of the labels.

    The weights minimize the squared error on hidden labels, with a prior of four labels around equal weights; what is
    missing to 1 shrinks predictions to the mean.

    Parameters
    ----------
    members : int
        M.
    outputs : int
        How many numbers, D.
    """

    def __init__(self, members: int, outputs: int) -> None:
        super().__init__()
        self.register_buffer("weights", torch.full((members,), 1 / members))
        self.register_buffer("center", torch.zeros(outputs))
        self.weights: Tensor
        self.center: Tensor

    def forward(self, members: Tensor) -> Tensor:
        return self.center + torch.einsum("m,mbd->bd", self.weights, members - self.center)

    def fit(self, members: Tensor, targets: Targets) -> NumberStack:
        from scipy.optimize import nnls

        count = len(members)
        values = torch.from_numpy(targets.values).to(members.dtype)
        self.center.copy_(values.mean(0))
        spread = values.std(0, correction=0)
        spread = torch.where(spread > 0, spread, 1.0)
        guesses = ((members - self.center) / spread).flatten(1).T.double().numpy()  # (n D, M)
        truth = ((values - self.center) / spread).flatten().double().numpy()
        doubt = np.sqrt(_PSEUDO_ERRORS * max(np.square(guesses.mean(1) - truth).mean(), 1e-9))
        prior = doubt * np.eye(count) * np.sqrt(count)
        found = nnls(np.concatenate([guesses, prior]), np.concatenate([truth, prior.sum(1) / count]))[0]
        self.weights.copy_(torch.from_numpy(found / max(found.sum(), 1.0)))
        return self


def make_stack(members: int, outputs: int, classes: bool) -> Stack:
    """Return the stack of classes or of numbers."""
    return ClassStack(members, outputs) if classes else NumberStack(members, outputs)


def cross_fitted(members: Tensor, targets: Targets) -> np.ndarray:
    """Return predictions of stacks that were fitted without the fold of each label, ``(n, K)`` or ``(n, D)``."""
    found = np.zeros((len(targets), targets.outputs))
    for k in range(targets.folds):
        hidden = targets.fold == k
        stack = make_stack(len(members), targets.outputs, targets.classes)
        stack.fit(members[:, ~hidden], targets.select(~hidden))
        found[hidden] = stack(members[:, hidden]).numpy()
    return found
