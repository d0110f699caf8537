"""Each label is hidden from one fold, and folds are alike."""

import torch

from tests.models.tables import prepared, table
from unknot.models.predictor.targets import folds_of


def test_folds_have_as_many_of_every_class() -> None:
    labels = torch.cat([torch.zeros(15), torch.ones(10)]).long()[torch.randperm(25)]
    folds = folds_of(labels, 5)
    for fold in range(5):
        assert labels[folds == fold].bincount().tolist() == [3, 2]


def test_members_of_a_fold_do_not_see_its_labels() -> None:
    ensemble = prepared(table())
    for held in ensemble._held.values():
        assert held.visible.shape == (45, 24)  # seven settings and two plain ones, in five folds
        for member in range(35):
            assert torch.equal(held.visible[member], held.folds != member % 5)


def test_labels_are_kept_in_the_order_of_ids() -> None:
    data = table()
    ensemble = prepared(data.subset(torch.arange(59, -1, -1)))
    held = ensemble._held["0"]
    assert torch.equal(held.ids, torch.arange(100, 124))
    assert torch.equal(held.labels.values, data.factors["kind"].values[:24])
