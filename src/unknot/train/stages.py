"""Stages: parts of a run with an objective of their own, or with parts of the model that do not learn.

A config's ``stages`` come first, in their order; the remaining steps use the config's own objective::

    stages: [{steps: 250, objective: {name: information_maximization}}, {steps: 500, frozen: [trunk]}]

An objective of a stage has regularizers of its own. Which stage a step belongs to follows from its number alone, so a
resumed run needs no state for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from unknot.core.program import lacks
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.suggest import did_you_mean
from unknot.train import seeding
from unknot.train.config import TrainConfig
from unknot.train.epochs import Epochs
from unknot.train.objective import Given, Objective, resolve
from unknot.train.step import TracedProgram


@dataclass(frozen=True)
class Stage:
    """The steps up to ``until``: their objective, and the parameters that do not learn in them."""

    until: int
    objective: Objective
    frozen: tuple[nn.Parameter, ...] = ()


def plan(
    given: Sequence[Mapping[str, Any]],
    last: Objective,
    steps: int,
    model: nn.Module,
    resolved: Callable[[Given], Objective],
) -> list[Stage]:
    """Return the stages of a run.

    Parameters
    ----------
    given : sequence of mapping
        The stages of the config.
    last : Objective
        The config's own objective, which is that of the last stage.
    steps : int
        The number of steps of the run.
    model : nn.Module
        The model, whose parts stages may freeze.
    resolved : callable
        Returns the objective that a setting means.

    Returns
    -------
    list of Stage
    """
    stages: list[Stage] = []
    until = 0
    for number, settings in enumerate(given, 1):
        until += settings["steps"]
        objective = resolved(settings["objective"]) if "objective" in settings else last
        if objective.module is not None and objective is not last:
            raise SpecError(
                f"train.stages: the objective of stage {number} has a network of its own, which is trained "
                "over the whole run; name it as train.objective."
            )
        stages.append(Stage(until, objective, frozen_parameters(model, settings.get("frozen", ()))))
    if stages and until >= steps:
        raise SpecError(f"train.stages: they take {until} steps of {steps}; leave some for the run itself.")
    return [*stages, Stage(steps, last)]


def objectives(
    config: TrainConfig, model: nn.Module, traced: TracedProgram, epochs: Epochs, device: torch.device
) -> tuple[Objective, Stages]:
    """Return the objective of a run, on the device, and its stages; random states are left as they were.

    Parameters
    ----------
    config : TrainConfig
        The settings of the run.
    model : nn.Module
        The model, whose parts stages may freeze.
    traced : TracedProgram
        The same as a program. A draw from it tells the size of an objective's own network.
    epochs : Epochs
        The batches of the run.
    device : torch.device
        Where the model is.
    """

    def draw() -> Trace:
        with torch.no_grad():
            return traced(epochs.batch(0))[0]

    def resolved(given: Given) -> Objective:
        return resolve(given, len(epochs.data), draw, config.compile)

    with seeding.kept():
        seeding.seed_all(config.seed)
        objective = resolved(config.objective)
        if objective.module is not None:
            objective.module.to(device)
        if config.references and (not objective.takes_reference or lacks(traced.program, "encode")):
            raise SpecError(
                "train: references are for objectives that estimate q(z) from the batch, hfvae for instance, and "
                "models with encode; leave them out."
            )
        return objective, Stages(plan(config.stages, objective, epochs.steps, model, resolved))


class Stages:
    """The stages of a run, and the one that training is in.

    Parameters
    ----------
    stages : sequence of Stage
        All of them, in order.
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = stages
        self.current = stages[-1]

    def enter(self, step: int) -> Objective:
        """Return the objective of a step, and freeze the parameters of its stage; those of the last one learn again."""
        stage = stage_at(self.stages, step)
        if stage is not self.current:
            self.release()
            for weight in stage.frozen:
                weight.requires_grad_(False)
            self.current = stage
        return stage.objective

    def release(self) -> None:
        """Let all parameters learn again."""
        for weight in self.current.frozen:
            weight.requires_grad_(True)


def frozen_parameters(model: nn.Module, names: Sequence[str]) -> tuple[nn.Parameter, ...]:
    """Return the parameters of the model's parts called ``names``, for instance ``trunk`` or ``generation.x``."""
    parts = dict(model.named_modules()) | dict(model.named_parameters())
    found: dict[int, nn.Parameter] = {}
    for name in names:
        if not name or name not in parts:
            raise SpecError(
                f"train.stages: the model has no part '{name}' to freeze; {did_you_mean(name, parts)}"
            )
        part = parts[name]
        parameters = [part] if isinstance(part, nn.Parameter) else list(part.parameters())
        found |= {id(weight): weight for weight in parameters if weight.requires_grad}
    return tuple(found.values())


def stage_at(stages: Sequence[Stage], step: int) -> Stage:
    """Return the stage that a step, counted from zero, belongs to."""
    return next((stage for stage in stages if step < stage.until), stages[-1])
