"""The order of batches."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from tests.train.programs import digits
from unknot.data.dataset import Dataset
from unknot.data.stored_items import StoredItems
from unknot.errors import SpecError
from unknot.train import TrainConfig
from unknot.train.epochs import Epochs


def _ids(plan: Epochs, start: int, count: int) -> list[list[int]]:
    return [batch.ids.tolist() for batch in itertools.islice(plan.batches(start), count)]


@pytest.mark.parametrize("share", [None, 0.3])
def test_any_step_can_be_the_first(share: float | None) -> None:
    plan = Epochs.plan(digits(), TrainConfig(epochs=2, batch_size=100, labeled_share=share))
    whole = _ids(plan, 0, plan.steps)
    assert len(whole) == 2 * plan.per_epoch
    for start in (1, plan.per_epoch - 1, plan.per_epoch, plan.steps - 1):
        assert _ids(plan, start, plan.steps - start) == whole[start:]
        assert plan.batch(start).ids.tolist() == whole[start]


def test_an_epoch_shows_no_item_twice_and_the_next_has_another_order() -> None:
    plan = Epochs.plan(digits(), TrainConfig(epochs=2, batch_size=100))
    first, second = _ids(plan, 0, plan.per_epoch), _ids(plan, plan.per_epoch, plan.per_epoch)
    for epoch in (first, second):
        seen = list(itertools.chain(*epoch))
        assert len(seen) == len(set(seen)) == 1400
    assert first != second


def test_processes_share_each_batch() -> None:
    config = TrainConfig(epochs=1, batch_size=100)
    whole = _ids(Epochs.plan(digits(), config), 0, 5)
    parts = [_ids(Epochs.plan(digits(), config, rank, 4), 0, 5) for rank in range(4)]
    assert [list(itertools.chain(*pieces)) for pieces in zip(*parts, strict=True)] == whole


def test_each_process_reads_its_own_part_of_a_file() -> None:
    class Recorded:
        """Rows of a file, which remembers those that were read."""

        shape, dtype = (64, 2), np.dtype(np.float32)

        def __init__(self) -> None:
            self.read: list[int] = []

        def __getitem__(self, rows: np.ndarray) -> np.ndarray:
            numbers = np.arange(64)[rows]
            self.read += numbers.tolist()
            return np.stack([numbers, numbers], 1).astype(np.float32)

    config, seen = TrainConfig(epochs=1, batch_size=16), []
    for rank in range(2):
        rows = Recorded()
        data = Dataset("d", StoredItems([rows]), torch.arange(64))
        ids = _ids(Epochs.plan(data, config, rank, 2), 0, 4)
        assert rows.read == list(itertools.chain(*ids))
        seen += rows.read
    assert sorted(seen) == list(range(64))


def test_a_batch_that_does_not_divide_is_refused() -> None:
    with pytest.raises(SpecError, match=r"batch_size 100 .* must divide by their number, 3; for instance 99"):
        Epochs.plan(digits(), TrainConfig(epochs=1, batch_size=100), 0, 3)


def test_seeds_give_other_orders() -> None:
    orders = [Epochs.plan(digits(), TrainConfig(epochs=1, batch_size=9, seed=s)).order(0) for s in (0, 1)]
    assert not torch.equal(*orders)


def test_references_follow_the_batch_and_are_none_of_its_items() -> None:
    config = TrainConfig(epochs=2, batch_size=100, references=1200)
    plan = Epochs.plan(digits(), config)
    further = [batch.ids.tolist() for batch in itertools.islice(plan.references(0), plan.steps)]
    for step, (batch, others) in enumerate(zip(_ids(plan, 0, plan.steps), further, strict=True)):
        assert len(set(others)) == 1200
        assert not set(others) & set(batch)
        assert next(plan.references(step)).ids.tolist() == others
    second = Epochs.plan(digits(), config, rank=1, world=2)
    assert next(second.references(3)).ids.tolist() == further[3]
    with pytest.raises(SpecError, match="make one of them smaller"):
        Epochs.plan(digits(), TrainConfig(epochs=1, batch_size=1000, references=1000))
