"""The HFVAE's marginals, ours against the plain B x B x D tensors: time, memory, and float32 accuracy.

Forward and backward of every log q^ of Normal(10) + Concrete(10): each dimension, each group, and all. The two
formulations take turns, so that whatever else the machine does falls on both.

    python -m benchmarks inference_marginal
"""

import math
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Normal

from benchmarks.in_turns import medians
from benchmarks.row import row
from unknot.objectives.marginal.marginal_tree import marginal_tree
from unknot.objectives.marginal.pairwise import concrete, normal
from unknot.objectives.marginal.weights import stratified

N, D, K, TAU = 60000, 10, 10, 0.66
Formulation = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], list[Tensor]]


def inputs(batch: int, sigma: float = 0.3, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Draws, means, scales, log of Concrete draws, logits."""
    torch.manual_seed(0)
    loc, scale = torch.randn(batch, D), sigma * (0.5 + torch.rand(batch, D))
    logits = 2 * torch.randn(batch, K)
    gumbel = -torch.empty(batch, K).exponential_().log()
    draws = loc + scale * torch.randn(batch, D)
    tensors = [draws, loc, scale, ((logits + gumbel) / TAU).log_softmax(-1), logits]
    return [tensor.to(dtype).requires_grad_() for tensor in tensors]


def ours(z: Tensor, loc: Tensor, scale: Tensor, u: Tensor, logits: Tensor) -> list[Tensor]:
    weights = stratified(N, len(z), torch.arange(len(z)))
    variables = {"z": normal(z, loc, scale, weights), "y": concrete(u, logits, TAU, weights)}
    tree = marginal_tree(variables, {"content": ["y"], "style": ["z"]}, weights)
    style = tree.parts["style"].parts["z"]
    return [style.sum_of_parts, style.log_q, tree.parts["content"].log_q, tree.log_q]


def plain(z: Tensor, loc: Tensor, scale: Tensor, u: Tensor, logits: Tensor) -> list[Tensor]:
    batch = len(z)
    log_weights = z.new_full((batch, batch), math.log((N - 1) / (N * (batch - 1))))
    log_weights.fill_diagonal_(-math.log(N))
    style = Normal(loc, scale, validate_args=False).log_prob(z[:, None])  # (B, B, D)
    scores = (logits - TAU * u[:, None]).log_softmax(-1)  # (B, B, K)
    content = scores.sum(-1) + math.lgamma(K) + (K - 1) * math.log(TAU)
    dimensions = (style + log_weights[:, :, None]).logsumexp(1)
    joint = style.sum(-1)
    groups = [(matrix + log_weights).logsumexp(1) for matrix in (joint, content, joint + content)]
    return [dimensions.sum(-1), *groups]


def step(formulation: Formulation, tensors: list[Tensor]) -> list[Tensor]:
    """Gradients of an HFVAE-like weighting of the terms (β = 4, γ = 3)."""
    weights = (2.0, -1.0, 3.0, -4.0)
    terms = formulation(*tensors)
    loss = sum(weight * term.mean() for weight, term in zip(weights, terms, strict=True))
    assert isinstance(loss, Tensor)
    return list(torch.autograd.grad(loss, tensors))


def time_ratio(batch: int, rounds: int) -> tuple[float, float]:
    """Median time of a step, ours and plain, in seconds."""
    tensors = inputs(batch)
    first, second = medians([partial(step, ours, tensors), partial(step, plain, tensors)], rounds, warm=1)
    return first, second


def peak_memory(name: str, batch: int) -> float:
    """Peak memory of one step over what the process held before, in MiB, in a process of its own."""
    code = f"from benchmarks.inference_marginal import print_peak; print_peak({name!r}, {batch})"
    return float(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    )


def print_peak(name: str, batch: int) -> None:
    formulation = {"ours": ours, "plain": plain}[name]
    step(formulation, inputs(16))  # libraries and thread pools are not the formulation's
    tensors = inputs(batch)
    before = resident_peak()
    step(formulation, tensors)
    print(resident_peak() - before)


def resident_peak() -> float:
    """High-water mark of this program's memory in MiB (getrusage's would include the parent's, from the fork)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def worst_error(sigma: float, batch: int = 256) -> float:
    """Largest float32 error against plain float64: of a term, and of a gradient by its largest entry."""
    single = inputs(batch, sigma)
    double = [tensor.detach().double().requires_grad_() for tensor in single]
    terms = [
        (a - b).abs() / b.abs().clamp(min=1.0) for a, b in zip(ours(*single), plain(*double), strict=True)
    ]
    gradients = zip(step(ours, single), step(plain, double), strict=True)
    slopes = [(a - b).abs() / b.abs().max() for a, b in gradients]
    return max(error.max().item() for error in [*terms, *slopes])


def run() -> list[dict[str, Any]]:
    rows = []

    def add(name: str, value: float, unit: str, goal: float | None = None) -> None:
        rows.append(row(name, value, unit, goal))

    # One thread as well: that is how sweeps run, and its ratio survives a busy machine.
    all_threads = torch.get_num_threads()
    for threads in sorted({1, all_threads}):
        torch.set_num_threads(threads)
        for batch, rounds, goal in ((512, 15, 0.35), (1024, 9, 0.20)):
            mine, theirs = time_ratio(batch, rounds)
            case = f"hfvae marginals, B={batch}, {threads} thread{'s' if threads > 1 else ''}: time"
            add(f"{case}, ours", 1000 * mine, "ms")
            add(f"{case}, plain", 1000 * theirs, "ms")
            add(f"{case}, ours/plain", mine / theirs, "x", goal)
    torch.set_num_threads(all_threads)
    mine, theirs = (peak_memory(name, 2048) for name in ("ours", "plain"))
    add("hfvae marginals, B=2048: peak memory, ours", mine, "MiB")
    add("hfvae marginals, B=2048: peak memory, plain", theirs, "MiB")
    add("hfvae marginals, B=2048: peak memory, ours/plain", mine / theirs, "x", 0.25)
    for sigma in (1e-3, 1e-2, 1e-1, 1.0, 10.0):
        add(f"hfvae marginals: float32 error at sigma={sigma:g}", worst_error(sigma), "relative", 1e-4)
    return rows
