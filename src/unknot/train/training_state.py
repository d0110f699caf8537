"""TrainingState: what changes while a model is trained, to and from checkpoints."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from unknot.errors import RunError
from unknot.train import seeding
from unknot.train.adversary import Adversary
from unknot.train.checkpoint import Checkpoint, pack_optimizer, under, unpack_optimizer
from unknot.train.held_out import EarlyStopping, WeightAverage


@dataclass
class TrainingState:
    """Weights, optimizer, average, early stopping, and how many steps are finished."""

    model: nn.Module
    objective: nn.Module | None
    optimizer: torch.optim.Optimizer
    average: WeightAverage | None
    stopping: EarlyStopping
    adversary: Adversary | None = None
    step: int = 0
    seconds: float = 0.0  # of earlier processes of this run
    _since: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        """Seconds of training, over all resumptions."""
        return self.seconds + time.perf_counter() - self._since

    def evaluation_weights(self) -> dict[str, Tensor]:
        """A copy of the weights that validation judges: the averaged ones if there are such."""
        if self.average is not None:
            return self.average.state_dict()
        return {name: t.detach().clone() for name, t in self.model.state_dict().items()}

    def checkpoint(self, **more: Any) -> Checkpoint:
        """Everything, as tensors and JSON values."""
        random_tensors, random_scalars = seeding.capture()
        tensors = {
            **under("model", self.model.state_dict()),
            **under("optimizer", pack_optimizer(self.optimizer)),
            **under("random", random_tensors),
            **under("best", self.stopping.weights),
        }
        if self.average is not None:
            tensors |= under("average", self.average.state_dict())
        if self.objective is not None:
            tensors |= under("objective", self.objective.state_dict())
        if self.adversary is not None:
            tensors |= under("adversary", pack_optimizer(self.adversary.optimizer))
        state = {"random": random_scalars, "stopping": self.stopping.state(), "seconds": self.elapsed, **more}
        return Checkpoint(self.step, tensors, state)

    def restore(self, made: Checkpoint) -> None:
        """Become what :meth:`checkpoint` saw."""
        try:
            self.model.load_state_dict(made.part("model"))
            unpack_optimizer(self.optimizer, made.part("optimizer"))
            if self.objective is not None:
                self.objective.load_state_dict(made.part("objective"))
            if self.adversary is not None:
                unpack_optimizer(self.adversary.optimizer, made.part("adversary"))
            if self.average is not None:
                self.average.load_state_dict(made.part("average"))
            self.stopping.restore(made.state["stopping"], self._best_weights(made))
            seeding.restore(made.part("random"), made.state["random"])
            self.seconds = float(made.state["seconds"])
        except (RuntimeError, ValueError, LookupError, TypeError) as error:
            reason = " ".join(str(error).split())
            raise RunError(f"the checkpoint of step {made.step} does not fit this model: {reason}") from error
        self.step = made.step

    def _best_weights(self, made: Checkpoint) -> dict[str, Tensor]:
        """The best weights that a checkpoint keeps, if any: on the model's device, each of its weight's shape."""
        now, best = self.model.state_dict(), made.part("best")
        shapes = {name: tensor.shape for name, tensor in now.items()}
        if best and {name: tensor.shape for name, tensor in best.items()} != shapes:
            raise ValueError("the best weights so far have other names or shapes")
        return {name: tensor.to(now[name].device) for name, tensor in best.items()}

    def finish(self) -> None:
        """Leave the model with the weights to use: the best, else the averaged, else the last."""
        self.model.load_state_dict(self.stopping.weights or self.evaluation_weights())
