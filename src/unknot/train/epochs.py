"""The order of batches: a function of seed and step, cut into equal slices for the processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from unknot.data.batch import Batch, any_known, epoch_order, iterate, supervised_order, take
from unknot.data.dataset import Dataset
from unknot.errors import DataError, SpecError
from unknot.train.config import TrainConfig
from unknot.train.processes import share_of
from unknot.train.seeding import epoch_generator


@dataclass(frozen=True)
class Epochs:
    """Every batch of a run for one of ``world`` processes.

    Epoch e has its own order, from the seed and e. Each global batch is ``batch_size`` consecutive rows of
    it, and process r takes the r-th of ``world`` equal parts. Any step can be the first.
    """

    data: Dataset
    config: TrainConfig
    rank: int
    world: int
    per_epoch: int

    @classmethod
    def plan(cls, data: Dataset, config: TrainConfig, rank: int = 0, world: int = 1) -> Epochs:
        """Check that there is at least one whole batch, and count the batches of an epoch."""
        share_of(config.batch_size, world)
        if len(data) == 0:
            raise DataError(f"{data.name}: there are no items to train on.")
        for factor in data.factors.values():
            factor.refuse_wrong_values()
        plan = cls(data, config, rank, world, 1)
        rows = len(plan.order(0))
        if rows < config.batch_size:
            raise SpecError(
                f"train: batch_size {config.batch_size} is more than the {rows} items of an epoch of {data.name}; "
                "make it smaller."
            )
        if rows < config.batch_size + config.references:
            raise SpecError(
                f"train: batch_size {config.batch_size} and references {config.references} are more than the {rows} "
                f"items of {data.name}; make one of them smaller."
            )
        return cls(data, config, rank, world, rows // config.batch_size)

    @property
    def steps(self) -> int:
        """How many steps the whole run has."""
        if self.config.steps is not None:
            return self.config.steps
        assert self.config.epochs is not None
        return self.config.epochs * self.per_epoch

    def order(self, epoch: int) -> Tensor:
        """The rows of an epoch, in order."""
        generator = epoch_generator(self.config.seed, epoch)
        if self.config.labeled_share is None:
            return epoch_order(len(self.data), True, generator)
        by = self.config.labeled_by
        names = list(by) if isinstance(by, tuple) else by
        return supervised_order(any_known(self.data, names), self.config.labeled_share, generator)

    def batches(self, step: int) -> Iterator[Batch]:
        """This process's part of every batch from ``step`` on, without end."""
        while True:
            epoch, done = divmod(step, self.per_epoch)
            rows = self._own(self.order(epoch), done)
            yield from iterate(self.data, rows, share_of(self.config.batch_size, self.world), True, None)
            step += self.per_epoch - done

    def references(self, step: int) -> Iterator[Batch]:
        """Beside every batch from ``step`` on, the items that follow it in its epoch, the same for all processes."""
        places = self.config.batch_size + torch.arange(self.config.references)
        while True:
            epoch, done = divmod(step, self.per_epoch)
            order = self.order(epoch)
            for batch in range(done, self.per_epoch):
                rows = order[(batch * self.config.batch_size + places) % len(order)]
                yield take(self.data, rows.to(self.data.device))
            step += self.per_epoch - done

    def batch(self, step: int) -> Batch:
        """This process's part of one batch."""
        epoch, done = divmod(step, self.per_epoch)
        rows = self._own(self.order(epoch), done)[: share_of(self.config.batch_size, self.world)]
        return take(self.data, rows.to(self.data.device))

    def _own(self, order: Tensor, done: int) -> Tensor:
        whole = order[done * self.config.batch_size : self.per_epoch * self.config.batch_size]
        parts = whole.reshape(self.per_epoch - done, self.world, -1)  # (batches, processes, items)
        return parts[:, self.rank].reshape(-1)


def label_digest(data: Dataset) -> str:
    """A short digest of the items and of every label that can be seen, to know the data again."""
    import hashlib

    digest = hashlib.sha256(data.fingerprint().encode())
    for name in sorted(data.factors):
        digest.update(name.encode())
        digest.update(
            torch.nan_to_num(data.factors[name].values.cpu().double(), nan=-1e300).numpy().tobytes()
        )
    return digest.hexdigest()[:32]
