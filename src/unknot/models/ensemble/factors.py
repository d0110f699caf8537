"""The factors of an ensemble: what its members predict, how that is learned, combined and written in a trace.

Outputs of the members' encoders are ``(M, B, C)``; M members are S settings in F folds, in that order.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from unknot.core.evidence import FromPrior, Partial, partial
from unknot.core.node import Node
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.ensemble.spec import EnsembleSpec
from unknot.models.node_spec import NodeSpec
from unknot.models.predictor.calibration import inverse_temperature
from unknot.models.predictor.stacking import mixture_weights
from unknot.models.raters import Raters

# ---- stacking: how the members are combined, by labels that were hidden from them -------------------------

_PULL = 16.0  # how strongly the shrinkage of numbers is drawn to one


def shrinkage(guess: Tensor, truth: Tensor) -> Tensor:
    """Return the factor from 0 to 1 by which predictions of standardized numbers (n, D) are shrunk to their mean.

    b = (Σ g y + 16 v) / (Σ g² + 16 v) with v = mean (g - y)²: the slope of the truth y, hidden from the members, on the
    prediction g, with a normal prior around one. The remaining weight, 1 - b, belongs to the labels' mean, zero.

    >>> guess = torch.tensor([[2.0], [-2.0]]).repeat(50, 1)
    >>> float(shrinkage(guess, guess)), round(float(shrinkage(guess, guess / 2)), 2)
    (1.0, 0.52)
    """
    doubt = _PULL * (guess - truth).square().mean()
    slope = ((guess * truth).sum() + doubt) / (guess.square().sum() + doubt).clamp_min(1e-12)
    return slope.clamp(0.0, 1.0)


Value = Node | Tensor | Partial | FromPrior  # what a site's value= takes

_PSEUDO_ERRORS, _PSEUDO_VARIANCE = 5.0, 0.3  # that keep a number's noise from vanishing
_NUMBER_RIDGE, _NUMBER_RIDGE_HIDDEN = 4.0, 2.0  # a standardized number varies less than logits do


class MemberFactor(nn.Module, ABC):
    """One labeled factor. ``weights`` (S,) are those of the mixture that predicts it."""

    def __init__(self, node: NodeSpec, spec: EnsembleSpec, generating: int) -> None:
        super().__init__()
        self.name, self.size = node.name, node.size or 0
        self.folds, settings = spec.folds, len(spec.settings)
        self.members, self.generating = settings * spec.folds, generating
        self.register_buffer("weights", torch.full((settings,), 1 / settings))
        self.weights: Tensor

    @abstractmethod
    def value(self, given: Tensor | Partial) -> Partial:
        """Labels as the site takes them, and which are known."""

    @abstractmethod
    def order(self, labels: Tensor) -> Tensor:
        """By what known labels are dealt into folds, (n,)."""

    @abstractmethod
    def learn(self, labels: Partial, visible: Tensor) -> Tensor | None:
        """Start from the labels that each member may see, (M, n); returns where the encoders' outputs start."""

    @abstractmethod
    def log_q(self, out: Tensor, labels: Tensor) -> Tensor:
        """log q(label | x) of every member, (M, n), of outputs ``(M, n, C)``."""

    @abstractmethod
    def penalty(self, linear: Tensor, hidden: Tensor) -> Tensor:
        """Return R, minus the log-prior of the encoders' weights, (M,), from the penalties of their two parts."""

    @abstractmethod
    def fit_stacking(self, out: Tensor, labels: Tensor) -> None:
        """Fit the stacking weights to the settings' outputs ``(S, n, C)`` for labels hidden from them."""

    @abstractmethod
    def stacked(self, out: Tensor) -> Tensor:
        """Return class probabilities ``(n, K)``, or means ``(n, D)``, from one output of each setting ``(S, n, C)``."""

    def stacked_out_of_fold(self, out: Tensor, labels: Tensor, folds: Tensor) -> Tensor:
        """Return predictions for hidden labels, each with stacking weights that were fitted to the other folds."""
        kept = {name: buffer.clone() for name, buffer in self.named_buffers()}
        found = torch.zeros(len(labels), self.size, device=out.device)
        for fold in folds.unique():
            hidden = folds == fold
            if not bool(hidden.all()):
                self.fit_stacking(out[:, ~hidden], labels[~hidden])
            found[hidden] = self.stacked(out[:, hidden])
        for name, buffer in self.named_buffers():
            buffer.copy_(kept[name])
        return found

    def evidence(self, batch: Any) -> Tensor | None:
        """What a batch says beside single labels: log-potentials of the classes ``(B, K)``, or None."""
        return None

    @abstractmethod
    def member_site(self, q: Trace, out: Tensor, labels: Partial) -> Tensor:
        """The site in q of M B items in training; returns the code that networks read."""

    @abstractmethod
    def joint_site(self, q: Trace, out: Tensor, labels: Partial | None) -> Tensor:
        """The site in q of B items in use: the mixture of all members."""

    @abstractmethod
    def prior_site(self, p: Trace, value: Value, members: slice, items: int) -> Tensor:
        """The site in p: of several members, each with ``items`` items, or of one member for all items."""

    def _of_members(self, parameter: Tensor, members: slice, items: int) -> Tensor:
        """A parameter ``(M, ...)`` for the items of some members, ``(M B, ...)``; of one member without that axis."""
        chosen = parameter[members]
        return chosen[0] if len(chosen) == 1 else chosen.repeat_interleave(items, 0)

    def _mixed(self, each: Tensor) -> Tensor:
        """``(M, B, C) -> (B, C)``: the mean over folds, weighed over settings."""
        return torch.einsum("s,sfbc->bc", self.weights / self.folds, each.unflatten(0, (-1, self.folds)))


class MemberClasses(MemberFactor):
    """One of K classes: enumerated in training, p(y) learned. The mixture of probabilities has one inverse temperature,
    ``sharpness``."""

    def __init__(self, node: NodeSpec, spec: EnsembleSpec, generating: int) -> None:
        super().__init__(node, spec, generating)
        self.prior = nn.Parameter(torch.zeros(generating, self.size))
        self.register_buffer("sharpness", torch.ones(()))
        self.sharpness: Tensor
        self.raters = Raters(node.raters, self.size) if node.raters else None

    def evidence(self, batch: Any) -> Tensor | None:
        if self.name in batch.votes:
            return self.log_potential(None, batch.votes[self.name])
        if self.name not in batch.evidence:
            return None
        return torch.where(batch.known[self.name][:, None], 0.0, batch.evidence[self.name])

    def log_potential(self, evidence: Tensor | None, votes: Tensor | None) -> Tensor:
        """Return log-potentials ``(B, K)``: the given ones, or those of votes ``(B, M)`` under the learned raters."""
        if votes is not None:
            if self.raters is None:
                raise SpecError(
                    f"ensemble: the labels of '{self.name}' are votes, but the factor has no raters."
                )
            return self.raters.log_potential(votes)
        assert evidence is not None
        return evidence

    def log_q_evidence(self, out: Tensor, potential: Tensor) -> Tensor:
        """``log Σ_y ψ(y) q(y | x)`` of every member, (M, n), of outputs ``(M, n, K)`` and log ψ ``(n, K)``."""
        return (out.log_softmax(-1) + potential).logsumexp(-1)

    def value(self, given: Tensor | Partial) -> Partial:
        return given if isinstance(given, Partial) else partial(given)

    def order(self, labels: Tensor) -> Tensor:
        return labels

    def learn(self, labels: Partial, visible: Tensor) -> Tensor:
        """Both q(y | x) and p(y) start from the shares of the visible labels, with one more of each class."""
        classes = one_hot(labels.values.clamp_min(0), self.size).to(self.prior.dtype)
        counts = visible.to(self.prior.dtype) @ classes + 1.0
        shares = (counts / counts.sum(1, keepdim=True)).log()
        self.prior.copy_(shares[: self.generating])
        return shares

    def log_q(self, out: Tensor, labels: Tensor) -> Tensor:
        return out.log_softmax(-1).gather(-1, labels.clamp_min(0).expand(len(out), -1)[..., None])[..., 0]

    def penalty(self, linear: Tensor, hidden: Tensor) -> Tensor:
        return linear + hidden

    def fit_stacking(self, out: Tensor, labels: Tensor) -> None:
        if not len(labels):
            return  # equal weights
        log_prob = out.log_softmax(-1)
        weights = mixture_weights(log_prob[:, torch.arange(len(labels), device=labels.device), labels])
        mixed = torch.einsum("s,snk->nk", weights, log_prob.exp())
        self.weights.copy_(weights)
        self.sharpness.copy_(inverse_temperature(mixed.clamp_min(1e-9).log(), labels))

    def stacked(self, out: Tensor) -> Tensor:
        mixed = torch.einsum("s,snk->nk", self.weights, out.softmax(-1))
        return (self.sharpness * mixed.clamp_min(1e-9).log()).softmax(-1)

    def member_site(self, q: Trace, out: Tensor, labels: Partial) -> Tensor:
        logits = out.flatten(0, 1)
        classes = q.one_hot_categorical(
            logits=logits, value=labels, name=self.name, gradient="enumerate", event_dims=1
        )
        return _for_each(classes, logits)

    def joint_site(self, q: Trace, out: Tensor, labels: Partial | None) -> Tensor:
        logits = self.sharpness * self._mixed(out.softmax(-1)).clamp_min(1e-9).log()
        return q.one_hot_categorical(logits=logits, value=labels, name=self.name, event_dims=1)

    def prior_site(self, p: Trace, value: Value, members: slice, items: int) -> Tensor:
        logits = self._of_members(self.prior, members, items)
        classes = p.one_hot_categorical(logits=logits, value=value, name=self.name)
        return _for_each(classes, logits)


class MemberNumbers(MemberFactor):
    """A vector of D numbers, normal, drawn in training. Sites have the labels' own units, networks standardized ones.

    A member's standard deviation is learned; the mixture's comes from each setting's ``errors`` on hidden labels. Its
    weights add up to the shrinkage; the rest is the weight of N(0, 1), the labels' mean and standard deviation alone.
    """

    def __init__(self, node: NodeSpec, spec: EnsembleSpec, generating: int) -> None:
        super().__init__(node, spec, generating)
        self.log_noise = nn.Parameter(torch.full((self.members, self.size), -0.5))
        self.prior_mean = nn.Parameter(torch.zeros(generating, self.size))
        self.prior_log_scale = nn.Parameter(torch.zeros(generating, self.size))
        self.register_buffer("errors", torch.ones(len(self.weights), self.size))
        self.register_buffer("center", torch.zeros(self.size))
        self.register_buffer("spread", torch.ones(self.size))
        self.errors: Tensor
        self.center: Tensor
        self.spread: Tensor

    def value(self, given: Tensor | Partial) -> Partial:
        if isinstance(given, Partial):
            return given
        known = partial(given).known
        return partial(given[:, None] if given.ndim == 1 else given, known)

    def order(self, labels: Tensor) -> Tensor:
        return labels.sum(-1)

    def learn(self, labels: Partial, visible: Tensor) -> None:
        """Units from the labels that there are."""
        found = labels.values[labels.known]
        self.center.copy_(found.mean(0))
        spread = found.std(0, correction=0)
        self.spread.copy_(torch.where(spread > 0, spread, 1.0))

    def log_q(self, out: Tensor, labels: Tensor) -> Tensor:
        log_noise = self.log_noise[:, None]
        error = (self._standard(labels.nan_to_num()) - out) * (-log_noise).exp()
        return (-0.5 * error.square() - log_noise - 0.5 * math.log(2 * math.pi)).sum(-1)

    def penalty(self, linear: Tensor, hidden: Tensor) -> Tensor:
        errors = (self.log_noise + 0.5 * _PSEUDO_VARIANCE * (-2 * self.log_noise).exp()).sum(-1)
        return _NUMBER_RIDGE * linear + _NUMBER_RIDGE_HIDDEN * hidden + _PSEUDO_ERRORS * errors

    def fit_stacking(self, out: Tensor, labels: Tensor) -> None:
        error = out - self._standard(labels)  # (S, n, D)
        scale = error.square().mean(1, keepdim=True).sqrt().clamp_min(1e-6)
        weights = mixture_weights((-0.5 * (error / scale).square() - scale.log()).sum(-1))
        guess = torch.einsum("s,snd->nd", weights, out)
        self.weights.copy_(weights * shrinkage(guess, self._standard(labels)))
        self.errors.copy_(scale[:, 0])

    def stacked(self, out: Tensor) -> Tensor:
        return torch.einsum("s,snd->nd", self.weights, out) * self.spread + self.center

    def member_site(self, q: Trace, out: Tensor, labels: Partial) -> Tensor:
        scale = (self.log_noise[: self.generating].exp() * self.spread).repeat_interleave(out.shape[1], 0)
        mean = out.flatten(0, 1) * self.spread + self.center
        return self._standard(q.normal(mean, scale, value=labels, name=self.name, event_dims=1))

    def joint_site(self, q: Trace, out: Tensor, labels: Partial | None) -> Tensor:
        mean = self._mixed(out)
        errors = self.errors.repeat_interleave(self.folds, 0)[:, None]  # (M, 1, D)
        variance = self._mixed(out.square() + errors.square()) + (1 - self.weights.sum()) - mean.square()
        scale = variance.clamp_min(1e-12).sqrt() * self.spread
        mean = mean * self.spread + self.center
        return self._standard(q.normal(mean, scale, value=labels, name=self.name, event_dims=1))

    def prior_site(self, p: Trace, value: Value, members: slice, items: int) -> Tensor:
        mean = self._of_members(self.prior_mean, members, items) * self.spread + self.center
        scale = self._of_members(self.prior_log_scale, members, items).exp() * self.spread
        return self._standard(p.normal(mean, scale, value=value, name=self.name, event_dims=1))

    def _standard(self, value: Tensor) -> Tensor:
        return (value - self.center) / self.spread


def _for_each(classes: Tensor, logits: Tensor) -> Tensor:
    """Classes ``(..., M B, C)`` for every row of ``logits``: enumerated ones are shared by all rows."""
    return classes.expand(*classes.shape[:-2], len(logits), -1) if logits.ndim > 1 else classes


def member_factor(node: NodeSpec, spec: EnsembleSpec, generating: int) -> MemberFactor:
    """Return the factor of a node: classes or numbers."""
    kind = MemberClasses if node.family.name == "concrete" else MemberNumbers
    return kind(node, spec, generating)
