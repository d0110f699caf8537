"""The factors of an ensemble: what its members say of one, how that is learned, joined and written in a trace.

Outputs of the members' encoders are ``(M, B, C)``; M members are S settings in F folds, in that order.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from unknot.core.evidence import FromPrior, Partial, partial
from unknot.core.node import Node
from unknot.core.trace import Trace
from unknot.models.ensemble.mixture import belief, inverse_temperature, mixture_weights
from unknot.models.ensemble.spec import EnsembleSpec
from unknot.models.node_spec import NodeSpec

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
    def held_back(self, linear: Tensor, hidden: Tensor) -> Tensor:
        """R, minus the log-prior of the encoders' weights, (M,), of what their two parts pay."""

    @abstractmethod
    def conclude(self, out: Tensor, labels: Tensor) -> None:
        """Fit the mixture to what the settings say ``(S, n, C)`` of labels hidden from them."""

    @abstractmethod
    def member_site(self, q: Trace, out: Tensor, labels: Partial) -> Tensor:
        """The site in q of M B items in training; returns the code that networks read."""

    @abstractmethod
    def joint_site(self, q: Trace, out: Tensor, labels: Partial | None) -> Tensor:
        """The site in q of B items in use: the mixture of all members."""

    @abstractmethod
    def prior_site(self, p: Trace, value: Value, members: slice, items: int) -> Tensor:
        """The site in p, for so many items of each of some members, or the same for all items of one."""

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

    def held_back(self, linear: Tensor, hidden: Tensor) -> Tensor:
        return linear + hidden

    def conclude(self, out: Tensor, labels: Tensor) -> None:
        log_prob = out.log_softmax(-1)
        weights = mixture_weights(log_prob[:, torch.arange(len(labels), device=labels.device), labels])
        mixed = torch.einsum("s,snk->nk", weights, log_prob.exp())
        self.weights.copy_(weights)
        self.sharpness.copy_(inverse_temperature(mixed.clamp_min(1e-9).log(), labels))

    def member_site(self, q: Trace, out: Tensor, labels: Partial) -> Tensor:
        logits = out.flatten(0, 1)
        return q.one_hot_categorical(
            logits=logits, value=labels, name=self.name, gradient="enumerate", event_dims=1
        )

    def joint_site(self, q: Trace, out: Tensor, labels: Partial | None) -> Tensor:
        logits = self.sharpness * self._mixed(out.softmax(-1)).clamp_min(1e-9).log()
        return q.one_hot_categorical(logits=logits, value=labels, name=self.name, event_dims=1)

    def prior_site(self, p: Trace, value: Value, members: slice, items: int) -> Tensor:
        logits = self._of_members(self.prior, members, items)
        return p.one_hot_categorical(logits=logits, value=value, name=self.name)


class MemberNumbers(MemberFactor):
    """A vector of D numbers, normal, drawn in training. Sites have the labels' own units, networks standardized ones.

    A member's standard deviation is learned; the mixture's comes from each setting's ``errors`` on hidden labels. Its
    weights add up to how much the ensemble is believed; the rest is that of N(0, 1), which knows the labels' mean and
    spread alone.
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

    def held_back(self, linear: Tensor, hidden: Tensor) -> Tensor:
        errors = (self.log_noise + 0.5 * _PSEUDO_VARIANCE * (-2 * self.log_noise).exp()).sum(-1)
        return _NUMBER_RIDGE * linear + _NUMBER_RIDGE_HIDDEN * hidden + _PSEUDO_ERRORS * errors

    def conclude(self, out: Tensor, labels: Tensor) -> None:
        error = out - self._standard(labels)  # (S, n, D)
        scale = error.square().mean(1, keepdim=True).sqrt().clamp_min(1e-6)
        weights = mixture_weights((-0.5 * (error / scale).square() - scale.log()).sum(-1))
        guess = torch.einsum("s,snd->nd", weights, out)
        self.weights.copy_(weights * belief(guess, self._standard(labels)))
        self.errors.copy_(scale[:, 0])

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


def member_factor(node: NodeSpec, spec: EnsembleSpec, generating: int) -> MemberFactor:
    """The factor of a node: classes or numbers."""
    kind = MemberClasses if node.family.name == "concrete" else MemberNumbers
    return kind(node, spec, generating)
