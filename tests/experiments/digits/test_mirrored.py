"""Mirrored images: labels follow, unknown ones stay unknown."""

from __future__ import annotations

import pytest
import torch

from experiments.digits.mirrored import mirrored
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.errors import DataError


def test_every_image_comes_again_with_its_labels_turned() -> None:
    x = torch.arange(12, dtype=torch.uint8).reshape(2, 1, 2, 3)
    light = torch.tensor([[0.6, 0.0, 0.8], [float("nan")] * 3])
    factors = {
        "who": Factor("who", "categorical", torch.tensor([1, -1]), ("a", "b")),
        "light": Factor("light", "continuous", light),
    }
    both = mirrored(Dataset("faces", x, torch.tensor([5, 9]), factors), {"light": (-1, 1, 1)})
    assert len(both) == 4
    assert both.x[2, 0, 0].tolist() == [2, 1, 0]
    assert both.factor("who").values.tolist() == [1, -1, 1, -1]
    torch.testing.assert_close(both.factor("light").values[2], torch.tensor([-0.6, 0.0, 0.8]))
    assert both.factor("light").known.tolist() == [True, False, True, False]
    assert len(both.ids.unique()) == 4


def test_only_images_have_mirror_images() -> None:
    with pytest.raises(DataError, match="mirror images"):
        mirrored(Dataset("rows", torch.zeros(2, 3), torch.arange(2)), {})
