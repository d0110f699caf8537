"""Training and runs: the loop, run folders, checkpoints. See :func:`unknot.train.fit`."""

from unknot.train.checkpoint import Checkpoint
from unknot.train.config import TrainConfig
from unknot.train.loop import Result, fit
from unknot.train.run_folder import RunFolder

__all__ = ["Checkpoint", "Result", "RunFolder", "TrainConfig", "fit"]
