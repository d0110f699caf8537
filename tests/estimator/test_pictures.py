"""Pictures in lists: PIL images, and arrays of different sizes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from unknot import StructuredVAE
from unknot.errors import DataError
from unknot.estimator.input import read_items

_rng = np.random.default_rng(0)


def picture(height: int, width: int, *colors: int) -> np.ndarray:
    return _rng.integers(0, 256, (height, width, *colors), dtype=np.uint8)


def test_lists_of_pictures_become_one_array() -> None:
    gray = read_items([picture(40, 20), picture(80, 40), picture(10, 5)])
    assert gray.x.shape == (3, 1, 32, 16)
    mixed = read_items([picture(40, 40, 3), picture(50, 50), torch.from_numpy(picture(3, 30, 30))])
    assert mixed.x.shape == (3, 3, 32, 32)
    floats = read_items([picture(40, 40) / 255, picture(50, 50) / 255], size=16)
    assert floats.x.dtype == torch.float32
    assert floats.x.shape == (2, 1, 16, 16)
    assert read_items([picture(28, 28), picture(28, 28)]).x.shape == (2, 1, 28, 28)


def test_pil_images() -> None:
    images = [Image.fromarray(picture(100, 100)), Image.fromarray(picture(90, 90, 3))]
    assert read_items(images).x.shape == (2, 3, 32, 32)
    assert read_items(images[:1]).x.shape == (1, 1, 32, 32)
    with pytest.raises(DataError, match="picture 0: expected 8 bits per color, but its mode is F"):
        read_items([Image.fromarray(np.zeros((9, 9), np.float32))])


def test_pictures_that_do_not_fit_together() -> None:
    with pytest.raises(DataError, match="x holds pictures of float32 and uint8"):
        read_items([picture(9, 9), picture(8, 8) / 255])
    with pytest.raises(DataError, match=r"picture 1: expected \(H, W\), \(H, W, 3\)"):
        read_items([picture(9, 9), picture(9, 9, 7)])


def test_new_pictures_of_any_size_are_predicted() -> None:
    images, labels = picture(40, 70, 70), [0, 1] * 20
    vae = StructuredVAE(steps=2, verbose=False, verdict=False).fit(images, kind=labels)
    assert vae.trained_.shape == (1, 32, 32)
    whole = vae.predict_proba(images[:3])
    assert whole.shape == (3, 2)
    np.testing.assert_allclose(vae.predict_proba(list(images[:3])), whole)
    assert vae.predict([picture(20, 50), Image.fromarray(picture(90, 80))][:1] * 2).shape == (2,)
    described = {"nodes": vae.trained_.source.to_dict()["nodes"]}
    kept = StructuredVAE(described, steps=1, verbose=False, verdict=False).fit(images, kind=labels)
    assert kept.trained_.shape == (1, 70, 70)
