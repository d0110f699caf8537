"""fit: the training loop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from unknot.core import handlers
from unknot.core.program import as_program
from unknot.core.trace import Trace
from unknot.core.validation import validation
from unknot.data.batch import Batch
from unknot.data.dataset import Dataset
from unknot.errors import RunError
from unknot.train import seeding
from unknot.train.adversary import Adversary
from unknot.train.checkpoint import Checkpoint
from unknot.train.config import TrainConfig
from unknot.train.divergence import Guard, Watch, gradient_norm
from unknot.train.epochs import Epochs, label_digest
from unknot.train.held_out import EarlyStopping, HeldOut, WeightAverage, held_out_score
from unknot.train.metrics_log import MetricsLog
from unknot.train.processes import Interrupts, any_process, connect
from unknot.train.progress import Progress
from unknot.train.run_folder import RunFolder
from unknot.train.schedules import schedule, temperature_schedule
from unknot.train.stages import objectives
from unknot.train.step import Held, Step, TracedProgram
from unknot.train.training_state import TrainingState

if TYPE_CHECKING:
    from lightning_fabric import Fabric

OnStep = Callable[[int, dict[str, Any] | None], None]


@dataclass(frozen=True)
class Result:
    """How a training ended.

    * ``history``: the logged records, in order;
    * ``stopped_because``: "finished", "patience" or "interrupted";
    * ``steps``: how many are done, those of earlier processes of the run included.
    """

    history: list[dict[str, Any]]
    stopped_because: str
    steps: int


def fit(
    model: nn.Module,
    data: Dataset,
    config: TrainConfig,
    run: RunFolder | None = None,
    held_out: HeldOut | None = None,
    on_step: OnStep | None = None,
    fabric: Fabric | None = None,
) -> Result:
    """Train a model, in place. Under ``torchrun`` each process takes its part of every batch.

    Parameters
    ----------
    model : nn.Module
        A module with ``encode`` and ``decode``, or with a ``forward`` that takes a :class:`unknot.data.Batch` and
        returns the two traces (q, p). It may have any other method of :class:`unknot.core.program.Program`, and does
        not have to inherit from it. The first step runs it a few times at other sizes, without gradient, to learn
        the event axes of its sites.
    data : Dataset
        The items to train on, with the labels that may be used (see :class:`unknot.data.LabelBudget`).
    config : TrainConfig
        How to train.
    run : RunFolder, optional
        A folder in which everything is written. If it has a checkpoint, the run is continued: killed at any moment, it
        ends in the weights of an unbroken one, bit for bit.
    held_out : callable, optional
        ``held_out(model)`` returns a score, better when larger. It may use no label outside the budget.
    on_step : callable, optional
        ``on_step(step, record)`` is called after each step, with the logged record or None.
    fabric : Fabric, optional
        The connection of this process, if the caller has one (:func:`~unknot.train.processes.connect`).

    Returns
    -------
    Result
        The model has the trained weights: the best, else the averaged, else the last.
    """
    config.refuse_wrong_settings()
    fabric = fabric or connect(config.device, config.precision)
    with ExitStack() as stack:
        if run is not None and fabric.is_global_zero:
            stack.enter_context(run.lock())
        stack.enter_context(seeding.kept())
        stack.enter_context(handlers.shard(fabric.global_rank, fabric.world_size))
        loop = Loop(fabric, model, data, config, run, held_out)
        stack.callback(loop.log.close)
        stack.enter_context(loop.progress)
        interrupts = stack.enter_context(Interrupts())
        return loop.train(interrupts, on_step)


class Loop:
    """The parts of a training run, and the loop over its steps."""

    def __init__(
        self,
        fabric: Fabric,
        model: nn.Module,
        data: Dataset,
        config: TrainConfig,
        run: RunFolder | None,
        held_out: HeldOut | None,
    ) -> None:
        self.fabric, self.config, self.run, self.held_out = fabric, config, run, held_out
        self.model = model.to(fabric.device).train()
        self.program = as_program(self.model)
        self.program.prepare(data.to(fabric.device))
        self.epochs = Epochs.plan(data.to(fabric.device), config, fabric.global_rank, fabric.world_size)
        self.traced = TracedProgram(self.program)
        self.objective, self.stages = objectives(config, model, self.traced, self.epochs, fabric.device)
        self.weights = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(
            self.weights, betas=config.betas, weight_decay=config.weight_decay, fused=True
        )
        average = None if config.average_weights is None else WeightAverage(model, config.average_weights)
        stopping = EarlyStopping(config.patience)
        adversary = None
        if self.objective.adversarial:
            adversary = Adversary(self.objective.module, self._augmented_traces, fabric.world_size)
        self.state = TrainingState(model, self.objective.module, self.optimizer, average, stopping, adversary)
        self.rate = schedule(config.learning_rate, self.epochs.steps, "learning_rate")
        self.temperature = temperature_schedule(self.program, config.temperature, self.epochs.steps)

        self.log = MetricsLog(run if fabric.is_global_zero else None, fabric.world_size)
        self._start_or_resume(data)
        show = config.progress and fabric.is_global_zero
        self.progress = Progress(self.epochs.steps, self.state.step, config.batch_size, show)
        self.guard = Guard(self.optimizer, fabric.device, fabric.world_size)
        self.step_module = Step(self.traced, self.objective, config.compile)
        self.step_module.first = self.state.step == 0
        self.watch = Watch(self.guard, self.step_module, self.epochs, fabric, run)
        # One process needs no wrapper around the module, only the precision: see _step.
        self.forward = fabric.setup_module(self.step_module) if fabric.world_size > 1 else self.step_module

    def train(self, interrupts: Interrupts, on_step: OnStep | None) -> Result:
        """Step until the end, a patience that has run out, or an interrupt."""
        state, steps = self.state, self.epochs.steps
        batches = self.epochs.batches(state.step)
        others = replace(self.epochs, config=replace(self.config, seed=self.config.seed + 1)).batches(
            state.step
        )
        further = self.epochs.references(state.step) if self.config.references else repeat(None)
        with ExitStack() as checks:
            if state.step > 0:
                checks.enter_context(validation(False))
            while state.step < steps and not state.stopping.exhausted:
                self._step(next(batches), next(further))
                if state.adversary is not None:
                    state.adversary.step(others)
                if state.step == 1:  # the first step has shown that the program is sound
                    checks.enter_context(validation(False))
                record = self._due(interrupts)
                if on_step is not None:
                    on_step(state.step, record)
                if self._interrupted(interrupts):
                    return self._end("interrupted")
        return self._end("patience" if state.stopping.exhausted else "finished")

    def _step(self, batch: Batch, further: Batch | None) -> None:
        """One step: forward, backward, clip, update; ``further`` items are for objectives that take a reference."""
        state = self.state
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(state.step)
        if self.temperature is not None:
            self.program.set_temperature(self.temperature(state.step))
        self.step_module.set_objective(self.stages.enter(state.step))
        self.guard.before_step(state.step)
        try:
            with self.fabric.autocast():
                used = further is not None and self.step_module.objective.takes_reference
                loss, means = self.forward(Held(batch), *([Held(further)] if used else []))
        except (RuntimeError, ValueError) as error:
            self.watch.explain(*self.guard.states[-1], error)
            raise
        self.optimizer.zero_grad()
        self.fabric.backward(loss)
        self.guard.judge(loss, gradient_norm(self.weights, self.config.clip_norm))
        if self.guard.due:
            self.watch.check()
        self.optimizer.step()
        self.step_module.first = False
        state.step += 1
        if state.average is not None:
            state.average.update(state.step)
        self.log.add(means.content)

    def _augmented_traces(self, batch: Batch) -> tuple[Trace, Trace]:
        """Return the traces of a batch, augmented as in a step."""
        return self.traced(self.objective.augmented(batch, self.program))

    # ---- what is not done in every step ---------------------------------------------------------------

    def _due(self, interrupts: Interrupts) -> dict[str, Any] | None:
        """Validate, log and save, where this step is one of those that do."""
        step, config = self.state.step, self.config
        last = step == self.epochs.steps
        more: dict[str, float] = {}
        if self.held_out is not None and (
            step % (config.validate_every or self.epochs.per_epoch) == 0 or last
        ):
            more["validation"] = self._validate(self.held_out)
        last = last or self.state.stopping.exhausted
        save = self.run is not None and (step % config.checkpoint_every == 0 or last)
        if not (more or save or last or step % config.log_every == 0):
            return None
        record = self._record(more)
        if last:
            self.program.finalize()
        if save:
            self._save()
        return record

    def _record(self, more: dict[str, float]) -> dict[str, Any]:
        self.watch.check()
        step = self.state.step
        rate = self.progress.items_per_second(step)
        more |= {"learning_rate": self.rate(step - 1), "epoch": step / self.epochs.per_epoch}
        if self.temperature is not None:
            more["temperature"] = self.temperature(step - 1)
        record = self.log.record(step, **more, items_per_second=rate, time=self.state.elapsed)
        self.progress.show(step, record, rate)
        return record

    def _validate(self, held_out: HeldOut) -> float:
        """The score, and a copy of the weights if it is the best."""
        self.watch.check()
        state = self.state
        score = held_out_score(
            self.model, state.average, held_out, self.fabric.world_size, self.fabric.device
        )
        if state.stopping.observe(score, state.step) and self.config.patience is not None:
            state.stopping.weights = state.evaluation_weights()
        return score

    def _save(self) -> None:
        if self.run is None or not self.fabric.is_global_zero:
            return
        budget = self.run.budget
        made = self.state.checkpoint(
            metrics_bytes=self.log.offset(),
            data=self.digest,
            epoch=self.state.step / self.epochs.per_epoch,
            label_budget=None if budget is None else dict(budget.__dict__),
        )
        self.run.save(made)

    def _start_or_resume(self, data: Dataset) -> None:
        self.digest = label_digest(data)
        seeding.seed_all(self.config.seed)
        made = self.run.latest() if self.run is not None else None
        if self.run is not None and self.fabric.is_global_zero:
            self.run.settle(self.config.to_dict(), made is not None)
        if made is not None:
            if made.state.get("data") != self.digest:
                raise RunError(
                    f"{data.name} is not the data this run was started with: its items or visible labels differ. "
                    "Apply the run's own label_budget.json, or start a new run."
                )
            self.state.restore(made)
        self.log.open(_log_offset(made), self.state.step)

    def _interrupted(self, interrupts: Interrupts) -> bool:
        world = self.fabric.world_size
        if world > 1 and self.state.step % self.config.log_every:
            return False  # processes can only stop together, and asking them costs time
        return any_process(interrupts.requested, world, self.fabric.device)

    def _end(self, because: str) -> Result:
        self.stages.release()
        if because == "interrupted":
            if self.log.pending:
                self._record({})
            self._save()
            if self.run is not None and self.fabric.is_global_zero:
                print(f"Stopped after step {self.state.step}; {self.run.how_to_resume}.", file=sys.stderr)
        self.state.finish()
        return Result(self.log.history, because, self.state.step)


def _log_offset(made: Checkpoint | None) -> int:
    """Up to where the log belongs to the checkpoint. A forged number costs the log, not the run."""
    told = 0 if made is None else made.state.get("metrics_bytes", 0)
    return told if isinstance(told, int) and told >= 0 else 0
