"""Batches: every item once, with its own labels; scaling; the share of labeled items."""

import dataclasses

import pytest
import torch

from tests.data.test_dataset import make
from unknot.data.batch import supervised_order
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.errors import DataError


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_an_epoch_shows_every_item_once_with_its_own_labels(packed, shuffle):
    data = make(packed=packed)
    seen = []
    for batch in data.batches(7, shuffle=shuffle, seed=1):
        rows = batch.ids - 100
        assert torch.equal(batch.x, data.x[rows].float() / 255)
        assert torch.equal(batch["shape"], data.factors["shape"].values[rows])
        assert torch.equal(batch["place"], data.factors["place"].values[rows])
        assert torch.equal(batch.known["shape"], batch["shape"] >= 0)
        assert batch.known["place"].all()
        assert batch.dataset_size == 40
        seen += rows.tolist()
    assert sorted(seen) == list(range(40))
    assert (seen == list(range(40))) is not shuffle


def test_sizes_with_and_without_the_last():
    data = make()
    assert [len(b) for b in data.batches(16)] == [16, 16, 8]
    assert [len(b) for b in data.batches(16, drop_last=True)] == [16, 16]
    assert len(data.subset(torch.arange(0)).batch([])) == 0


def ids(data: Dataset, **options) -> list[int]:
    return torch.cat([b.ids for b in data.batches(8, **options)]).tolist()


def test_the_order_comes_from_the_seed_the_generator_or_torch():
    data = make()
    assert ids(data, seed=3) == ids(data, seed=3) != ids(data, seed=4)
    generator = torch.Generator().manual_seed(3)
    first, second = ids(data, generator=generator), ids(data, generator=generator)
    assert first == ids(data, seed=3)
    assert first != second
    with torch.random.fork_rng():
        torch.manual_seed(9)
        plain = ids(data)
        torch.manual_seed(9)
        assert ids(data) == plain
    with pytest.raises(DataError, match="not both"):
        data.batches(8, seed=1, generator=generator)


def test_scaling_is_for_bytes_alone():
    n = torch.arange(4)
    gray = Dataset("gray", torch.tensor([[0], [51], [128], [255]], dtype=torch.uint8), n).batch(n)
    assert torch.equal(gray.x[:, 0], torch.tensor([0, 51, 128, 255]) / 255)
    for dtype in (torch.int16, torch.float32, torch.float64, torch.bool):
        batch = Dataset("counts", torch.tensor([[0], [1], [2], [300]]).to(dtype), n).batch(n)
        assert batch.x.dtype == torch.float32
        assert batch.x[3, 0] == (1 if dtype == torch.bool else 300)


def test_one_batch_of_chosen_rows_and_unknown_names():
    batch = make().batch([4, 4, 0])
    assert batch.ids.tolist() == [104, 104, 100]
    with pytest.raises(DataError, match="no factor 'size'; it has shape, place"):
        batch["size"]
    assert batch.to("meta").known["shape"].device.type == "meta"


def test_changing_a_batch_does_not_change_the_data():
    data = make()
    before = data.factors["shape"].values.clone()
    for batch in data.batches(40, shuffle=False):
        batch["shape"].fill_(0)
        batch.ids.fill_(0)
        batch.x.fill_(0)
    assert torch.equal(data.factors["shape"].values, before)
    assert data.ids[0] == 100
    assert data.x.any()


def test_a_label_out_of_range_never_reaches_a_batch():
    data = make()
    wrong = dataclasses.replace(data.factors["shape"], values=torch.full((40,), 99))
    with pytest.raises(DataError, match="factor 'shape', row 0: got 99"):
        dataclasses.replace(data, factors={"shape": wrong}).batches(8)


def partly_labeled(n: int, labeled: int) -> Dataset:
    values = torch.full((n,), -1)
    values[torch.randperm(n, generator=torch.Generator().manual_seed(5))[:labeled]] = 1
    factors = {"y": Factor("y", "binary", values), "none": Factor("none", "binary", torch.full((n,), -1))}
    return Dataset("part", torch.zeros(n, 1), torch.arange(n), factors)


@pytest.mark.parametrize("share", [0.0, 0.002, 0.1, 0.5, 0.77])
def test_labeled_share_holds_in_every_batch(share):
    data = partly_labeled(1000, 30)
    times = torch.zeros(1000, dtype=torch.int64)
    for batch in data.batches(50, seed=0, labeled_share=share, labeled_by="y", drop_last=True):
        # The share of the epoch is exact up to one item, that of a batch up to rounding.
        assert abs(int(batch.known["y"].sum()) - 50 * share) < 1.1
        times.index_add_(0, batch.ids, torch.ones_like(batch.ids))
    labeled = data.factors["y"].known
    assert times[~labeled].max() <= 1
    assert int((times[~labeled] == 0).sum()) < 50  # what drop_last left out
    assert int(times[labeled].max() - times[labeled].min()) <= 1


def test_the_natural_share_shows_everything_once_and_share_one_only_labels():
    labeled = partly_labeled(200, 50).factors["y"].known
    assert sorted(supervised_order(labeled, 0.25, None).tolist()) == list(range(200))
    assert sorted(supervised_order(labeled, 1.0, None).tolist()) == labeled.nonzero()[:, 0].tolist()


def test_labeled_by_several_factors_or_any():
    data = partly_labeled(100, 10)
    for names in ("y", ["none", "y"], None):
        known = torch.cat([b.known["y"] for b in data.batches(10, labeled_share=0.5, labeled_by=names)])
        assert int(known.sum()) == 90
    with pytest.raises(DataError, match="no item is labeled"):
        data.batches(10, labeled_share=0.5, labeled_by="none")


def test_impossible_shares_are_refused():
    data = partly_labeled(10, 5)
    with pytest.raises(DataError, match=r"from 0 to 1, got 1\.5"):
        data.batches(2, labeled_share=1.5)
    with pytest.raises(DataError, match="every item is labeled"):
        data.labeled("y").batches(2, labeled_share=0.5)
    with pytest.raises(DataError, match="shuffled"):
        data.batches(2, shuffle=False, labeled_share=0.5)
    with pytest.raises(DataError, match="at least 1"):
        data.batches(0)
