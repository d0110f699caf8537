"""One image file as pixels."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from unknot.data.files.broken_file import READER_ERRORS
from unknot.data.files.special_file import refuse_special_file
from unknot.errors import DataError


def read_image(path: Path) -> np.ndarray:
    """One image (H, W, 3) of uint8; what eight bits cannot hold is refused, not cut off."""
    from PIL import Image

    refuse_special_file(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                deep = image.mode.startswith(("I", "F"))
                pixels = np.asarray(image.convert("RGB"))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(
            f"{path} declares more than {Image.MAX_IMAGE_PIXELS} pixels; make it smaller."
        ) from None
    except (*READER_ERRORS, MemoryError):
        raise DataError(f"{path} cannot be read as an image.") from None
    if deep:
        raise DataError(
            f"{path} has more than 8 bits a pixel, which images of a folder have; convert it to 8 bits, or give the "
            "pixels as floats from 0 to 1 in an .npz file."
        )
    return pixels
