"""The HFVAE objective from traces, forward and backward, against the plain B x B x D formulation.

Normal(10) and Concrete(10), E19's model for MNIST. Both sides draw the codes, form all terms and differentiate
back to the encoder's outputs; ours goes through traces, sites and named terms, the plain side through bare
tensors. They take turns, so that whatever else the machine does falls on both.

    python -m benchmarks hfvae_step
"""

import math
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Normal

import unknot
from benchmarks.in_turns import medians
from benchmarks.inference_marginal import TAU, D, K, N, plain, resident_peak
from benchmarks.row import row
from unknot.objectives import hfvae

ALPHA, BETA, GAMMA = 1.0, 4.0, 3.0
Step = Callable[[list[Tensor], int], Tensor]


def outputs(batch: int) -> list[Tensor]:
    """What an encoder would give: means, scales, logits."""
    torch.manual_seed(0)
    tensors = [torch.randn(batch, D), 0.3 * (0.5 + torch.rand(batch, D)), 2 * torch.randn(batch, K)]
    return [tensor.requires_grad_() for tensor in tensors]


def from_traces(tensors: list[Tensor], size: int = N) -> Tensor:
    """Our objective, as a training step calls it."""
    loc, scale, logits = tensors
    q, p = unknot.Trace(), unknot.Trace()
    q.concrete(logits, TAU, name="y")
    q.normal(loc, scale, name="z")
    p.concrete(torch.zeros(K), TAU, value=q["y"], name="y")
    z = p.normal(0.0, 1.0, value=q["z"], name="z")
    p.log_term(z.sum(-1), name="x")
    groups = {"content": ["y"], "style": ["z"]}
    return hfvae(
        q, p, size, alpha=ALPHA, beta=BETA, gamma=GAMMA, groups=groups, parents={name: [] for name in q}
    ).loss


def from_tensors(tensors: list[Tensor], size: int = N) -> Tensor:
    """The same number by the plain formulation."""
    loc, scale, logits = tensors
    gumbel = -torch.empty_like(logits).exponential_().log()
    u = ((logits + gumbel) / TAU).log_softmax(-1)
    z = loc + scale * torch.randn_like(loc)
    dimensions, style, content, joint = plain(z, loc, scale, u, logits)
    own_z = Normal(loc, scale, validate_args=False).log_prob(z).sum(-1)
    constant = math.lgamma(K) + (K - 1) * math.log(TAU)
    own_y = (logits - TAU * u).log_softmax(-1).sum(-1) + constant
    prior_y = (-TAU * u).log_softmax(-1).sum(-1) + constant
    prior_z = Normal(0.0, 1.0, validate_args=False).log_prob(z).sum(-1)
    information = joint - own_z - own_y
    between = content + style - joint
    within = dimensions - style
    marginal = prior_y - content + prior_z - dimensions
    return -(z.sum(-1) + marginal + ALPHA * information + BETA * between + GAMMA * within).mean()


def run_step(step: Step, tensors: list[Tensor], size: int = N) -> tuple[Tensor, ...]:
    """Loss and gradients."""
    loss = step(tensors, size)
    return (loss, *torch.autograd.grad(loss, tensors))


def median_times(steps: list[tuple[Step, int]], batch: int, rounds: int) -> list[float]:
    """Median seconds of each step, taking turns."""
    tensors = outputs(batch)
    return medians([partial(run_step, step, tensors, size) for step, size in steps], rounds, warm=1)


def peak_memory(name: str, batch: int) -> float:
    """Peak memory of one step over what the process held before, in MiB, in a process of its own."""
    code = f"from benchmarks.hfvae_step import print_peak; print_peak({name!r}, {batch})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def print_peak(name: str, batch: int) -> None:
    step = {"traces": from_traces, "plain": from_tensors}[name]
    run_step(step, outputs(16))  # libraries and thread pools are not the formulation's
    tensors = outputs(batch)
    before = resident_peak()
    run_step(step, tensors)
    print(resident_peak() - before)


def run() -> list[dict[str, Any]]:
    rows = []

    def add(name: str, value: float, unit: str, goal: float | None = None) -> None:
        rows.append(row(name, value, unit, goal))

    for batch, rounds, goal in ((512, 21, 0.35), (1024, 11, 0.20)):
        ours, theirs = median_times([(from_traces, N), (from_tensors, N)], batch, rounds)
        add(f"hfvae step, B={batch}: time, ours", 1000 * ours, "ms")
        add(f"hfvae step, B={batch}: time, plain", 1000 * theirs, "ms")
        add(f"hfvae step, B={batch}: time, ours/plain", ours / theirs, "x", goal)
    ours, theirs = (peak_memory(name, 2048) for name in ("traces", "plain"))
    add("hfvae step, B=2048: peak memory, ours", ours, "MiB")
    add("hfvae step, B=2048: peak memory, plain", theirs, "MiB")
    add("hfvae step, B=2048: peak memory, ours/plain", ours / theirs, "x", 0.25)
    small, large = median_times([(from_traces, 10_000), (from_traces, 10**9)], 512, 31)
    add("hfvae step, B=512: time, N=1e9 / N=1e4", large / small, "x", 1.1)
    return rows
