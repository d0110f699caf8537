"""Sequences with regimes: synthetic data, two switching models of ours, and the baselines beside them.

A regime is one of three linear dynamical systems in two dimensions: rotation to the left, rotation to the right, decay.
The state follows the dynamics of the current regime with noise, and is observed with noise.
"""

from __future__ import annotations

import itertools
import logging
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, softplus

from unknot.core.evidence import partial
from unknot.core.trace import Trace
from unknot.core.tracing import trace
from unknot.core.validation import validation
from unknot.errors import SpecError
from unknot.objectives import importance_weighted
from unknot.objectives.infer_discrete import infer_discrete

REGIMES = 3
ANGLES, DECAYS = (0.5, -0.5, 0.0), (0.97, 0.97, 0.80)
SWITCH, PROCESS_NOISE, OBSERVATION_NOISE = 0.05, 0.3, 0.3
STEPS = 60
LEARNING_RATE, BATCH = 1e-2, 100
DRAWS = 10  # of the states, for predictions


# ---- data -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sequences:
    """Observations ``x`` (N, T, 2) and regimes (N, T)."""

    x: Tensor
    regime: Tensor


def dynamics() -> Tensor:
    """The matrices of the three regimes, ``(3, 2, 2)``."""
    return torch.tensor(
        [
            [[r * math.cos(a), -r * math.sin(a)], [r * math.sin(a), r * math.cos(a)]]
            for a, r in zip(ANGLES, DECAYS, strict=True)
        ]
    )


def drawn_sequences(count: int, seed: int, steps: int = STEPS) -> Sequences:
    """New sequences."""
    generator = torch.Generator().manual_seed(seed)
    matrices = dynamics()
    regime = torch.randint(0, REGIMES, (count,), generator=generator)
    state = torch.randn(count, 2, generator=generator)
    regimes, observed = [], []
    for t in range(steps):
        if t > 0:
            other = (regime + torch.randint(1, REGIMES, (count,), generator=generator)) % REGIMES
            regime = torch.where(torch.rand(count, generator=generator) < SWITCH, other, regime)
            noise = PROCESS_NOISE * torch.randn(count, 2, generator=generator)
            state = (matrices[regime] @ state[..., None])[..., 0] + noise
        regimes.append(regime)
        observed.append(state + OBSERVATION_NOISE * torch.randn(count, 2, generator=generator))
    return Sequences(torch.stack(observed, 1), torch.stack(regimes, 1))


def some_labels(regime: Tensor, share: float, seed: int) -> Tensor:
    """The regimes of a random share of all steps, -1 elsewhere: ``(N, T)``."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.rand(regime.shape, generator=generator).flatten().argsort()
    chosen = order[: round(share * regime.numel())]
    labels = torch.full((regime.numel(),), -1)
    labels[chosen] = regime.flatten()[chosen]
    return labels.reshape(regime.shape)


# ---- our models -------------------------------------------------------------------------------------------


class SwitchingModel(nn.Module):
    """Regimes that follow a Markov chain and are summed exactly, over linear dynamics that depend on the regime.

        p(k_t | k_{t-1}),    z_t ~ N(A_k z_{t-1} + b_k, s_k²),    x_t ~ N(z_t, o²)

    With ``states=False`` z_t is the observation x_t itself: an autoregression whose log evidence is exact. With states,
    a bidirectional GRU of the observations gives m, G and v of the proposal

        z_t ~ N(m_t + G_t (z_{t-1} - m_{t-1}), v_t),

    and given the states the sum over regimes is exact.
    """

    def __init__(self, states: bool, hidden: int = 32) -> None:
        super().__init__()
        self.states = states
        self.start = nn.Parameter(torch.zeros(REGIMES))
        self.move = nn.Parameter(3.0 * torch.eye(REGIMES))
        self.matrix = nn.Parameter(0.9 * torch.eye(2) + 0.3 * torch.randn(REGIMES, 2, 2))
        self.offset = nn.Parameter(torch.zeros(REGIMES, 2))
        self.log_scale = nn.Parameter(torch.full((REGIMES, 2), math.log(0.5)))
        self.log_noise = nn.Parameter(torch.tensor(math.log(0.3)))
        if states:
            self.network = nn.GRU(2, hidden, batch_first=True, bidirectional=True)
            self.head = nn.Linear(2 * hidden, 8)

    def encode(self, x: Tensor, labels: Tensor) -> Trace:
        """Propose the states; every regime is enumerated, at labeled steps (``labels`` is not -1) the label alone."""
        q = Trace()
        even = torch.zeros(len(x), REGIMES)
        z: Tensor | None = None
        if self.states:
            mean, scale, gain = self.head(self.network(x)[0]).split([2, 2, 4], -1)
            mean, scale, gain = x + mean, 0.3 * softplus(scale) + 1e-3, 0.5 * gain.unflatten(-1, (2, 2))
        for t in q.markov(range(x.shape[1])):
            if self.states:
                center = mean[:, t]
                if z is not None:
                    center = center + _times(gain[:, t], z - mean[:, t - 1])
                z = q.normal(center, scale[:, t], name="z")
            known = partial(labels[:, t])
            q.categorical(logits=even, value=known, gradient="enumerate", name="regime")
        return q

    def decode(self, x: Tensor, q: Trace) -> Trace:
        """The generative program at the values of q."""
        p = Trace()
        logits: Tensor = self.start
        before: Tensor | None = None  # z_{t-1}
        for t in p.markov(range(x.shape[1])):
            regime = p.categorical(logits=logits, value=q[f"step[{t}].regime"], name="regime")
            logits = self.move[regime]
            z, name = (q[f"step[{t}].z"], "z") if self.states else (x[:, t], "x")
            if before is None:
                before = p.normal(torch.zeros(2), 1.0, value=z, name=name)
            else:
                mean = _times(self.matrix[regime], before) + self.offset[regime]
                before = p.normal(mean, self.log_scale[regime].exp(), value=z, name=name)
            if self.states:
                p.normal(before, self.log_noise.exp(), value=x[:, t], name="x")
        return p

    def log_evidence(self, x: Tensor, labels: Tensor) -> Tensor:
        """log p(x, labels), exact without states and one draw's bound with them, ``(B,)``."""
        q = trace(self.encode, x, labels)
        p = trace(self.decode, x, q)
        with validation(False):
            return importance_weighted(q, p, alpha=0.0)["evidence"]

    @torch.no_grad()
    def rename(self, x: Tensor, labels: Tensor) -> None:
        """Order the regimes so that the labels have the highest evidence; there are few orders."""
        orders = list(itertools.permutations(range(REGIMES)))
        original = {name: value.clone() for name, value in self.state_dict().items()}
        scores = []
        for order in orders:
            self._reorder(original, torch.tensor(order))
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)  # the same draws for all orders
                scores.append(float(self.log_evidence(x, labels).mean()))
        self._reorder(original, torch.tensor(orders[int(np.argmax(scores))]))

    def _reorder(self, original: dict[str, Tensor], order: Tensor) -> None:
        for name in ("start", "matrix", "offset", "log_scale"):
            getattr(self, name).copy_(original[name][order])
        self.move.copy_(original["move"][order][:, order])

    @torch.no_grad()
    def predict(self, x: Tensor) -> Tensor:
        """The most likely regime of every step, (N, T); states are averaged over draws."""
        draws = DRAWS if self.states else 1
        many = x.repeat(draws, 1, 1)
        q = trace(self.encode, many, torch.full(many.shape[:2], -1))
        marginals = infer_discrete(q, trace(self.decode, many, q), "marginals")
        by_step = torch.stack([marginals[f"step[{t}].regime"] for t in range(x.shape[1])], 1)  # (D N, T, K)
        return by_step.unflatten(0, (draws, len(x))).mean(0).argmax(-1)


def _times(matrix: Tensor, vector: Tensor) -> Tensor:
    return (matrix @ vector[..., None])[..., 0]


def fit_switching(states: bool, x: Tensor, labels: Tensor, steps: int, seed: int) -> SwitchingModel:
    """Train without labels, name the regimes by the labels, then train with them; both stages have half the steps."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SwitchingModel(states)
        _maximize(model, x, torch.full_like(labels, -1), steps // 2)
        if bool((labels >= 0).any()):
            model.rename(x, labels)
        _maximize(model, x, labels, steps - steps // 2)
    return model


def _maximize(model: SwitchingModel, x: Tensor, labels: Tensor, steps: int) -> None:
    optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    for _ in range(steps):
        rows = torch.randperm(len(x))[:BATCH]
        optimizer.zero_grad()
        (-model.log_evidence(x[rows], labels[rows]).mean()).backward()
        optimizer.step()


# ---- baselines --------------------------------------------------------------------------------------------


def fit_gru(x: Tensor, labels: Tensor, steps: int, seed: int, hidden: int = 16) -> StepClassifier:
    """A bidirectional GRU that predicts the regime of every step, trained on the labeled steps."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = StepClassifier(hidden)
        optimizer = torch.optim.Adam(model.parameters(), 3e-3)
        for _ in range(steps):
            rows = torch.randperm(len(x))[:64]
            if not bool((labels[rows] >= 0).any()):
                continue
            optimizer.zero_grad()
            cross_entropy(model(x[rows]).flatten(0, 1), labels[rows].flatten(), ignore_index=-1).backward()
            optimizer.step()
    return model


class StepClassifier(nn.Module):
    """Logits of the regime of every step, ``(B, T, K)``."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.network = nn.GRU(2, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, REGIMES)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.network(x)[0])
        return logits

    @torch.no_grad()
    def predict(self, x: Tensor) -> Tensor:
        """The most likely regime of every step."""
        return self(x).argmax(-1)


class GaussianChain:
    """hmmlearn's Gaussian HMM by expectation maximization, without labels; the best of several starts.

    With ``pairs`` a step is (x_t, x_{t-1}), whose covariance depends on the dynamics of the regime; without, it is x_t.
    Each start takes the covariances of three random segments of 12 steps, which found better optima than the k-means
    of hmmlearn on tuning sequences.
    """

    def __init__(self, pairs: bool, starts: int, seed: int) -> None:
        self.pairs, self.starts, self.seed = pairs, starts, seed

    def fit(self, x: Tensor) -> GaussianChain:
        try:
            from hmmlearn.hmm import GaussianHMM
        except ImportError:
            raise SpecError("this row is made with hmmlearn: pip install 'unknot[bench]'.") from None
        logging.getLogger("hmmlearn").setLevel(logging.ERROR)  # EM that has converged says so as a warning
        rng = np.random.default_rng(self.seed)
        steps = self._steps(x)  # (N, T, D)
        rows, lengths = steps.reshape(-1, steps.shape[-1]), [steps.shape[1]] * len(steps)
        best = -np.inf
        for start in range(self.starts):
            model = GaussianHMM(REGIMES, "full", n_iter=100, random_state=self.seed + start, init_params="")
            model.startprob_ = np.full(REGIMES, 1 / REGIMES)
            model.transmat_ = np.full((REGIMES, REGIMES), 0.05) + (1 - 0.05 * REGIMES) * np.eye(REGIMES)
            model.means_ = np.zeros((REGIMES, steps.shape[-1]))
            model.covars_ = np.stack([_segment_covariance(steps, rng) for _ in range(REGIMES)])
            model.fit(rows, lengths)
            score = model.score(rows, lengths)
            if score > best:
                best, self.model = score, model
        return self

    def predict(self, x: Tensor) -> Tensor:
        """The most likely state of every step, (N, T); with pairs the first step gets the state of the second."""
        steps = self._steps(x)
        rows, lengths = steps.reshape(-1, steps.shape[-1]), [steps.shape[1]] * len(steps)
        states = torch.from_numpy(self.model.predict_proba(rows, lengths).argmax(-1)).reshape(steps.shape[:2])
        return torch.cat([states[:, :1], states], 1) if self.pairs else states

    def _steps(self, x: Tensor) -> np.ndarray:
        return (torch.cat([x[:, 1:], x[:, :-1]], -1) if self.pairs else x).double().numpy()


def _segment_covariance(steps: np.ndarray, rng: np.random.Generator, length: int = 12) -> np.ndarray:
    length = min(length, steps.shape[1])
    start = rng.integers(steps.shape[1] - length + 1)
    segment = steps[rng.integers(len(steps)), start : start + length]
    return segment.T @ segment / length + 0.1 * np.eye(steps.shape[-1])


def named_by_labels(states: Tensor, labels: Tensor) -> Tensor:
    """The class of each state: the assignment that agrees with most of the ``labels``, ``(K,)``."""
    from scipy.optimize import linear_sum_assignment

    known = labels >= 0
    table = np.zeros((REGIMES, REGIMES))
    np.add.at(table, (states[known].numpy(), labels[known].numpy()), 1)
    return torch.from_numpy(linear_sum_assignment(-table)[1])
