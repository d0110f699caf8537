"""The exact log evidence of a hidden Markov model: with traces, by hand, and with Pyro; time and memory by length.

K states, 16 symbols, B sequences of T steps; forward and backward. ``traced`` enumerates the states in a
markov loop and sums them by ``importance_weighted``. ``by hand`` is the forward algorithm in plain PyTorch. ``pyro`` is
``TraceEnum_ELBO`` with ``pyro.markov``, at the depth of plates that this model needs; without pyro-ppl it is left out.
Their steps alternate, so that all see the same machine, and medians are compared. That all give the same number and
gradient is checked first.

    pip install -c constraints.txt -e '.[bench]'
    OMP_NUM_THREADS=1 python -m benchmarks chain_step
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

import unknot
from benchmarks.in_turns import medians
from benchmarks.inference_marginal import resident_peak
from benchmarks.row import row
from unknot.objectives import importance_weighted

SYMBOLS = 16
SIZES = (*((8, 32, length) for length in (10, 30, 100, 300, 1000)), (32, 256, 30))  # K, B, T
GOAL, GOAL_LENGTH = 1.3, 100  # traced over by hand
PYRO_GOAL = 1.0  # traced over Pyro, at every length


class HiddenMarkov(nn.Module):
    """Logits of the first state, of moves and of symbols, which all versions share."""

    def __init__(self, states: int) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.randn(states))
        self.move = nn.Parameter(torch.randn(states, states))
        self.emit = nn.Parameter(torch.randn(states, SYMBOLS))


def traced(model: HiddenMarkov, x: Tensor) -> Tensor:
    """Minus the log evidence, mean over sequences, with traces."""
    q, p = unknot.Trace(), unknot.Trace()
    even = torch.zeros(len(x), len(model.start))
    for _ in q.markov(range(x.shape[1])):
        q.categorical(logits=even, gradient="enumerate", name="state")
    logits: Tensor = model.start
    for t in p.markov(range(x.shape[1])):
        state = p.categorical(logits=logits, value=q[f"step[{t}].state"], name="state")
        p.categorical(logits=model.emit[state], value=x[:, t], name="symbol")
        logits = model.move[state]
    return importance_weighted(q, p).loss


def by_hand(model: HiddenMarkov, x: Tensor) -> Tensor:
    """The same by the forward algorithm."""
    move = model.move.log_softmax(-1)
    emitted = model.emit.log_softmax(-1).T[x]  # (B, T, K)
    log_forward = model.start.log_softmax(-1) + emitted[:, 0]
    for t in range(1, x.shape[1]):
        log_forward = (log_forward[:, :, None] + move).logsumexp(1) + emitted[:, t]
    return -log_forward.logsumexp(-1).mean()


def with_pyro(model: HiddenMarkov, x: Tensor) -> Tensor:
    """The same with Pyro; the guide is empty, so that the ELBO is the log evidence."""
    import pyro
    from pyro import distributions as dist
    from pyro.infer import TraceEnum_ELBO, config_enumerate

    @config_enumerate
    def program() -> None:
        with pyro.plate("sequences", len(x)):
            logits: Tensor = model.start
            for t in pyro.markov(range(x.shape[1])):
                state = pyro.sample(f"state_{t}", dist.Categorical(logits=logits))
                pyro.sample(f"symbol_{t}", dist.Categorical(logits=model.emit[state]), obs=x[:, t])
                logits = model.move[state]

    with pyro.validation_enabled(False):
        loss: Tensor = TraceEnum_ELBO(max_plate_nesting=1).differentiable_loss(program, lambda: None)
    return loss / len(x)


VERSIONS: dict[str, Callable[[HiddenMarkov, Tensor], Tensor]] = {
    "traced": traced,
    "by hand": by_hand,
    "pyro": with_pyro,
}


def step(name: str, model: HiddenMarkov, x: Tensor) -> None:
    """Forward and backward of one version."""
    model.zero_grad(set_to_none=True)
    with unknot.validation(False):
        VERSIONS[name](model, x).backward()


def inputs(states: int, batch: int, length: int) -> tuple[HiddenMarkov, Tensor]:
    """A model and sequences ``(B, T)``."""
    torch.manual_seed(0)
    return HiddenMarkov(states), torch.randint(0, SYMBOLS, (batch, length))


def check_agreement(names: Sequence[str]) -> None:
    """Refuse to compare versions whose loss or gradients differ."""
    model, x = inputs(8, 32, 10)
    outcomes = {}
    for name in names:
        loss = VERSIONS[name](model, x)
        outcomes[name] = torch.stack(
            [loss, *(g.norm() for g in torch.autograd.grad(loss, list(model.parameters())))]
        )
    for name, outcome in outcomes.items():
        torch.testing.assert_close(outcome, outcomes["by hand"], rtol=1e-4, atol=1e-4, msg=f"{name} differs")


def peak_memory(name: str, size: tuple[int, int, int]) -> float:
    """Peak memory of one step over what the process held before, in MiB, in a process of its own."""
    code = f"from benchmarks.chain_step import print_peak; print_peak({name!r}, {size})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def print_peak(name: str, size: tuple[int, int, int]) -> None:
    step(name, *inputs(2, 2, 4))  # libraries are not the version's
    model, x = inputs(*size)
    before = resident_peak()
    step(name, model, x)
    print(resident_peak() - before)


def run() -> list[dict[str, Any]]:
    """Rows for ``python -m benchmarks``; without Pyro its rows are left out, and a line says so."""
    has_pyro = importlib.util.find_spec("pyro") is not None
    if not has_pyro:
        print("chain_step: no rows for Pyro, because pyro-ppl is not installed: pip install 'unknot[bench]'")
    names = [name for name in VERSIONS if name != "pyro" or has_pyro]
    check_agreement(names)
    rows = []
    for size in SIZES:
        states, batch, length = size
        model, x = inputs(*size)
        steps = [partial(step, name, model, x) for name in names]
        rounds = max(3, min(60, 3000 // length))
        times = dict(zip(names, medians(steps, rounds, warm=2), strict=True))
        memory = {name: peak_memory(name, size) for name in names}
        title = f"HMM evidence, K={states} B={batch} T={length}"
        goal = GOAL if length == GOAL_LENGTH else None
        rows += [row(f"{title}: {name}", times[name] * 1e3, "ms") for name in names]
        rows.append(row(f"{title}: traced over by hand", times["traced"] / times["by hand"], "x", goal))
        if has_pyro:
            rows.append(row(f"{title}: traced over pyro", times["traced"] / times["pyro"], "x", PYRO_GOAL))
        rows += [row(f"{title}: peak memory, {name}", memory[name], "MiB") for name in names]
    return rows
