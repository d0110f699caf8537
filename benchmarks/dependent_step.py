"""The HFVAE objective on the slides' own program, z read from a Concrete y, against the same number by hand.

The networks of ``trace_step``, B = 128, forward and backward. q(z) sums y out by 8 further draws, q(y, z) meets 16
other items, as the defaults say. The trunk runs once on both sides. By hand all draws, and all pairs, are one batched
evaluation; so they are with ``vectorized=True``. Beside it stand the 24 runs of the encoder's heads without it, and the
same step with independent heads, which needs no further run.

    python -m benchmarks dependent_step
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Normal
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

import unknot
from benchmarks.in_turns import Step, medians
from benchmarks.row import row
from benchmarks.trace_step import BATCH, CLASSES, STYLE, TAU, Networks, batch
from unknot.objectives import hfvae

N, DRAWS, PAIRS, BETA, GAMMA = 60000, 8, 16, 4.0, 3.0
GOAL = 1.25  # over hand-written
Loss = Callable[[Networks, Tensor], Tensor]


def heads(nets: Networks, h: Tensor, y_values: Tensor | None = None, dependent: bool = True) -> unknot.Trace:
    """The slides' encoder behind its trunk."""
    q = unknot.Trace()
    y = q.concrete(nets.y(h), TAU, value=y_values, name="y")
    hy = unknot.cat([h, y if dependent else torch.zeros_like(y)], -1)
    q.normal(nets.mean(hy), softplus(nets.scale(hy)) + 1e-3, name="z")
    return q


def decoder(nets: Networks, x: Tensor, q: unknot.Trace) -> unknot.Trace:
    p = unknot.Trace()
    y = p.concrete(nets.prior, TAU, value=q["y"], name="y")
    z = p.normal(0.0, 1.0, value=q["z"], name="z")
    p.bernoulli(logits=nets.back(torch.cat([y, z], -1)), value=x, name="x")
    return p


def traced(nets: Networks, x: Tensor, vectorized: bool = True) -> Tensor:
    h = nets.h(x)
    q = heads(nets, h)
    how: dict[str, Any] = {
        "encoder": lambda given: heads(nets, h, given["y"]),
        "parents": {"z": ["y"]},
        "pairs": PAIRS,
        "draws": DRAWS,
        "vectorized": vectorized,
    }
    return hfvae(q, decoder(nets, x, q), N, beta=BETA, gamma=GAMMA, **how).loss


def apart(nets: Networks, x: Tensor) -> Tensor:
    """Ours with independent heads."""
    q = heads(nets, nets.h(x), dependent=False)
    return hfvae(q, decoder(nets, x, q), N, beta=BETA, gamma=GAMMA, parents={name: [] for name in q}).loss


def by_hand(nets: Networks, x: Tensor, in_step: bool = False) -> Tensor:
    """The same number; ``in_step`` also draws what ours draws and leaves unused, for the same random numbers."""
    h = nets.h(x)
    logits = nets.y(h)

    def draw(*times: int) -> Tensor:
        gumbel = -torch.empty(*times, *logits.shape).exponential_().log()
        return ((logits + gumbel) / TAU).log_softmax(-1)

    def style(h: Tensor, y: Tensor) -> Normal:
        hy = torch.cat([h.expand(*y.shape[:-1], -1), y], -1)
        return Normal(nets.mean(hy), softplus(nets.scale(hy)) + 1e-3, validate_args=False)

    def density(u: Tensor, logits: Tensor) -> Tensor:
        constant = math.lgamma(CLASSES) + (CLASSES - 1) * math.log(TAU)
        return (logits - TAU * u).log_softmax(-1).sum(-1) + constant

    u = draw()
    y = u.exp()
    own = style(h, y)
    z = own.mean + own.stddev * torch.randn(BATCH, STYLE)
    log_weights = x.new_full((BATCH, BATCH), math.log((N - 1) / (N * (BATCH - 1)))).fill_diagonal_(
        -math.log(N)
    )

    content = (density(u[:, None], logits) + log_weights).logsumexp(1)
    drawn = style(h, draw(DRAWS).exp())  # (M, B, D)
    if in_step:
        torch.randn(DRAWS, BATCH, STYLE)
    joint, single = [], []
    for mean, width in zip(drawn.mean, drawn.stddev, strict=True):
        pairs = Normal(mean, width, validate_args=False).log_prob(z[:, None])  # (B, B, D): b under c
        joint.append((pairs.sum(-1) + log_weights).logsumexp(1))
        single.append((pairs + log_weights[..., None]).logsumexp(1))
    log_q_z = torch.stack(joint).logsumexp(0) - math.log(DRAWS)
    log_q_zd = torch.stack(single).logsumexp(0) - math.log(DRAWS)

    other = (torch.arange(BATCH)[:, None] - torch.arange(1, PAIRS + 1)) % BATCH  # (B, M)
    met = style(h[other], y[:, None].expand(-1, PAIRS, -1)).log_prob(z[:, None]).sum(-1)
    met = met + density(u[:, None], logits[other]) + math.log((N - 1) / (N * PAIRS))
    at_home = own.log_prob(z).sum(-1) + density(u, logits)
    log_q = torch.cat([(at_home - math.log(N))[:, None], met], 1).logsumexp(1)

    pixels = binary_cross_entropy_with_logits(nets.back(torch.cat([y, z], -1)), x, reduction="none")
    log_p_z = Normal(0.0, 1.0, validate_args=False).log_prob(z).sum(-1)
    between = content + log_q_z - log_q
    within = log_q_zd.sum(-1) - log_q_z
    marginal = density(u, nets.prior) - content + log_p_z - log_q_zd.sum(-1)
    information = log_q - at_home
    return -(-pixels.sum(-1) + information + BETA * between + GAMMA * within + marginal).mean()


def run() -> list[dict[str, Any]]:
    """Rows for ``python -m benchmarks``."""
    torch.manual_seed(1)
    nets, x = Networks(), batch()[0]
    weights = list(nets.parameters())

    def gradients(loss: Loss) -> Step:
        return lambda: torch.autograd.grad(loss(nets, x), weights)

    with unknot.validation(False):
        losses: list[Loss] = [traced, by_hand, partial(traced, vectorized=False), apart]
        ours, hand, one_by_one, independent = medians(list(map(gradients, losses)), rounds=31, warm=2)
    rows: list[tuple[str, float, str, float | None]] = [
        ("time, ours", 1000 * ours, "ms", None),
        ("time, by hand", 1000 * hand, "ms", None),
        ("ours/by hand", ours / hand, "x", GOAL),
        ("heads run one by one/by hand", one_by_one / hand, "x", None),
        ("over independent heads", ours / independent, "x", None),
    ]
    named = f"hfvae, z read from y, B={BATCH}"
    return [row(f"{named}: {name}", value, unit, goal) for name, value, unit, goal in rows]
