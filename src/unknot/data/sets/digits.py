"""digits: scikit-learn's 8x8 digits, the data set that needs no file and no network."""

from __future__ import annotations

import numpy as np
import torch

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor

TEST_SHARE = 0.2  # 360 of 1797


def load_digits() -> Dataset:
    """1797 gray images ``(1, 8, 8)`` of handwritten digits, factor ``digit``; 1437 train and 360 test.

    The gray levels 0..16 are spread over 0..255. The split is fixed and keeps the shares of the digits.
    """
    from sklearn.datasets import load_digits as bundled
    from sklearn.model_selection import train_test_split

    images, labels = bundled(return_X_y=True)
    gray = np.round(images * (255 / 16)).astype(np.uint8).reshape(-1, 1, 8, 8)
    rows = np.arange(len(labels))
    train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=labels, random_state=0)
    digit = Factor(
        "digit", "categorical", torch.from_numpy(labels.astype(np.int64)), tuple(str(d) for d in range(10))
    )
    return Dataset(
        name="digits",
        x=torch.from_numpy(gray),
        ids=torch.arange(len(labels)),
        factors={"digit": digit},
        splits={"train": torch.from_numpy(np.sort(train)), "test": torch.from_numpy(np.sort(test))},
        licence="CC BY 4.0 (E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, UCI)",
    )
