"""Divergence: notice a NaN before it reaches the weights, and find the site it came from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unknot.core.trace import Trace
from unknot.core.validation import validation
from unknot.data.batch import Batch
from unknot.errors import RunError, TraceError
from unknot.objectives.check import check
from unknot.train.epochs import Epochs
from unknot.train.processes import mean_over_processes
from unknot.train.run_folder import RunFolder
from unknot.train.seeding import capture_torch, restore_torch
from unknot.train.step import Step

if TYPE_CHECKING:
    from lightning_fabric import Fabric

SMALL = 4096  # numbers in a parameter whose gradient is read in every step


class Guard:
    """Keeps an optimizer from stepping once a loss or a gradient was not finite.

    On the CPU every step is looked at before its update. On other devices looking means waiting, so the verdict
    stays there: fused Adam leaves the weights alone while its ``found_inf`` is one, and the loop looks every
    ``every`` steps. Either way it finds the weights from before the bad step, and its random states.
    """

    def __init__(
        self, optimizer: torch.optim.Optimizer, device: torch.device, world: int, every: int | None = None
    ) -> None:
        self.world = world
        self.every = every if every is not None else 1 if device.type == "cpu" else 25
        self.bad = torch.zeros((), device=device)
        self.good_steps = torch.zeros((), device=device)  # since the last look
        self.states: list[tuple[int, dict[str, Tensor]]] = []  # steps since the last look
        if self.every > 1:
            optimizer.found_inf = self.bad  # type: ignore[attr-defined]

    def before_step(self, step: int) -> None:
        """Remember the random states from which this step draws."""
        self.states.append((step, capture_torch()))

    def judge(self, loss: Tensor, gradient_norm: Tensor) -> None:
        """After backward, before the optimizer's step."""
        health = mean_over_processes(loss.detach().float(), self.world) + gradient_norm
        if self.every == 1:
            if not math.isfinite(health.item()):
                self.bad.fill_(1)
        else:
            self.bad.logical_or_(~health.isfinite())
            self.good_steps += 1 - self.bad

    @property
    def due(self) -> bool:
        """Whether to look now."""
        return len(self.states) >= self.every

    def look(self) -> tuple[int, dict[str, Tensor]] | None:
        """None if all is well; else the number of the bad step and its random states."""
        if bool(self.bad):
            return self.states[int(self.good_steps)]
        if self.every > 1:
            self.good_steps.zero_()
        self.states.clear()
        return None


def gradient_norm(weights: Sequence[Tensor], clip: float | None) -> Tensor:
    """Return the length of the gradient, which is shortened if it is more than ``clip``.

    Without ``clip`` only small parameters are measured, to see whether it is finite: what goes wrong in the backward
    pass reaches the biases of a layer as it reaches the weights, and reading all takes time.
    """
    weights = [p for p in weights if p.grad is not None]
    if clip is None:
        weights = [p for p in weights if p.numel() <= SMALL] or weights
    gradients = [p.grad for p in weights if p.grad is not None]
    norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    if clip is not None:
        torch.nn.utils.clip_grads_with_norm_(weights, clip, norm)
    return norm


class Watch:
    """Raises a RunError that says where a training diverged, as soon as the guard knows that it did.

    Parameters
    ----------
    guard : Guard
        Judges each step.
    step : Step
        The program and its objective.
    epochs : Epochs
        The batches of the run.
    fabric : Fabric
        Precision and processes.
    run : RunFolder, optional
        Where checkpoints are.
    """

    def __init__(
        self, guard: Guard, step: Step, epochs: Epochs, fabric: Fabric, run: RunFolder | None
    ) -> None:
        self.guard, self.step, self.epochs, self.fabric, self.run = guard, step, epochs, fabric, run

    def check(self) -> None:
        """Raise if a step since the last check went wrong."""
        bad = self.guard.look()
        if bad is not None:
            self.explain(*bad)
            raise RunError(
                f"training diverged at step {bad[0] + 1}: the loss or a gradient is not finite. {self._kept()}"
            )

    def explain(self, step: int, states: dict[str, Tensor], error: Exception | None = None) -> None:
        """Raise a RunError that names the site, if a replay of the step finds it."""
        alone = self.fabric.world_size == 1  # else the objective may wait for other processes
        with self.fabric.autocast():
            reason = culprit(self.step, self.epochs.batch(step), states, terms=alone)
        if reason is not None:
            raise RunError(f"training diverged at step {step + 1}: {reason} {self._kept()}") from error

    def _kept(self) -> str:
        made = None if self.run is None else self.run.latest()
        if made is None:
            return "Nothing was saved. Try a smaller learning rate, or clip_norm."
        return f"The checkpoint of step {made.step} is kept. Try a smaller learning rate, or clip_norm."


def culprit(step: Step, batch: Batch, states: dict[str, Tensor], terms: bool = True) -> str | None:
    """Replay one step from its random states with all checks on, and return which site is to blame.

    The parameters, values and log-probabilities of all sites are checked, then the objective's terms, then the
    gradient of each site.

    Parameters
    ----------
    step : Step
        The program and its objective.
    batch : Batch
        The items of the step.
    states : dict
        The random states before the step.
    terms : bool, default=True
        Whether to evaluate the objective.

    Returns
    -------
    str or None
        None if everything is finite.
    """
    now = capture_torch()
    restore_torch(states)
    try:
        with validation(True):
            batch = step.prepared(batch)
            q, p = step.traces(batch)
            check(q, p)
            values = dict(step.objective(q, p, batch, step.program)) if terms else {}
    except TraceError as error:
        return str(error)
    finally:
        restore_torch(now)
    for name, value in values.items():
        if not bool(value.isfinite().all()):
            return f"the objective's term '{name}' is not finite, although every site's log-probability is."
    return _bad_gradient([("q", q), ("p", p)], [w for w in step.program.parameters() if w.requires_grad])


def _bad_gradient(traces: Sequence[tuple[str, Trace]], weights: list[Tensor]) -> str | None:
    for label, trace in traces:
        for node in trace.nodes():
            if not node.log_prob.requires_grad:
                continue
            found = torch.autograd.grad(node.log_prob.sum(), weights, retain_graph=True, allow_unused=True)
            if not all(bool(g.isfinite().all()) for g in found if g is not None):
                return (
                    f"site '{node.name}' of {label}: its log-probability is finite but its gradient is not. "
                    "Look for a square root, logarithm or division at zero before it."
                )
    return None
