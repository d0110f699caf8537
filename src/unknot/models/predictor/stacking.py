"""Stacking: how the predictions of several members are combined, by labels that were hidden from them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor, nn

from unknot.models.predictor.calibration import LABELS_PER_CLASS, class_offsets, inverse_temperature
from unknot.models.predictor.targets import Targets

_SWEEPS = 300
PSEUDO_LABELS = 2.0  # of the Dirichlet prior on the weights, in all
_LOWEST, _HIGHEST, _MEMBER_COOLING = -3.0, 1.2, 1.0  # of log t of members, which may be far too confident
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
    """p(y = k) ∝ (Σ_m w_m p_m(k)^t_m / Z_m + w_0 s_k)^t exp(b_k).

    Each member has a temperature of its own, so that one that is too confident does not lose its weight for that; the
    class shares s of the labels take part as a further member. Then the mixture has a temperature, and class offsets b
    where there are ten labels per class and cross-validation says that they lower the log loss.

    Parameters
    ----------
    members : int
        M.
    outputs : int
        The number of classes K.
    """

    def __init__(self, members: int, outputs: int) -> None:
        super().__init__()
        self.register_buffer("sharpness", torch.ones(members))  # t_m
        self.register_buffer("weights", torch.full((members + 1,), 1 / (members + 1)))  # the last is w_0
        self.register_buffer("shares", torch.full((outputs,), 1 / outputs))
        self.register_buffer("smoothing", torch.zeros(()))
        self.register_buffer("final_sharpness", torch.ones(()))
        self.register_buffer("offsets", torch.zeros(outputs))
        self.sharpness: Tensor
        self.weights: Tensor
        self.shares: Tensor
        self.smoothing: Tensor
        self.final_sharpness: Tensor
        self.offsets: Tensor

    def forward(self, members: Tensor) -> Tensor:
        return (self.final_sharpness * self._mixed(members).log() + self.offsets).softmax(-1)

    def fit(self, members: Tensor, targets: Targets) -> ClassStack:
        labels = torch.from_numpy(targets.values)
        count, outputs = len(labels), len(self.shares)
        self.shares.copy_((labels.bincount(minlength=outputs) + 1 / outputs) / (count + 1))
        self.smoothing.fill_(0.5 / count)
        logs = self._smoothed(members).log()
        self.sharpness.copy_(
            torch.stack(
                [inverse_temperature(one, labels, _LOWEST, _HIGHEST, _MEMBER_COOLING) for one in logs]
            )
        )
        rows = torch.arange(count)
        sharpened = (self.sharpness[:, None, None] * logs).log_softmax(-1)[:, rows, labels]  # (M, n)
        self.weights.copy_(mixture_weights(torch.cat([sharpened, self.shares.log()[labels][None]])))
        self.final_sharpness.fill_(1.0)
        self.offsets.zero_()
        mixed = self._mixed(members).log()
        self.final_sharpness.copy_(inverse_temperature(mixed, labels))
        calibrated = self.final_sharpness * mixed
        if _offsets_help(calibrated, targets):
            self.offsets.copy_(class_offsets(calibrated, labels))
        return self

    def _smoothed(self, members: Tensor) -> Tensor:
        """Members with half a label of the class shares, so that no class is impossible."""
        return ((1 - self.smoothing) * members + self.smoothing * self.shares).clamp_min(_SMALLEST)

    def _mixed(self, members: Tensor) -> Tensor:
        sharpened = (self.sharpness[:, None, None] * self._smoothed(members).log()).softmax(-1)
        return torch.einsum("m,mbk->bk", self.weights[:-1], sharpened) + self.weights[-1] * self.shares


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
