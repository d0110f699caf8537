"""The embedded digits."""

import torch
from sklearn.datasets import load_digits as bundled

from unknot.data.sets.digits import load_digits


def test_images_labels_and_split():
    data = load_digits()
    images, labels = bundled(return_X_y=True)
    assert data.x.shape == (1797, 1, 8, 8)
    assert (int(data.x.min()), int(data.x.max())) == (0, 255)
    assert torch.equal((data.x.flatten(1) / 255 * 16).round(), torch.from_numpy(images).float())
    assert data.factors["digit"].values.tolist() == labels.tolist()
    train, test = data.split("train"), data.split("test")
    assert (len(train), len(test)) == (1437, 360)
    assert sorted(train.ids.tolist() + test.ids.tolist()) == list(range(1797))


def test_the_split_is_fixed_and_keeps_the_shares():
    test = load_digits().split("test")
    assert test.ids[:5].tolist() == load_digits().split("test").ids[:5].tolist()
    counts = test.factors["digit"].values.bincount()
    assert (counts - load_digits().factors["digit"].values.bincount() * 0.2).abs().max() < 1
