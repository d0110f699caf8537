"""What is said before training: what is data, what is label."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unknot.data.from_arrays import from_arrays
from unknot.data.readers.user_files import read_user_data
from unknot.workflow.data_summary import describe_data


def test_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,smokes,kind,weight\n30,1,x,1.5\n20,0,,2.5\n40,0,y,\n")
    data = read_user_data(tmp_path / "t.csv", factors=["kind", "weight"])
    assert describe_data(data) == [
        "Data: 3 rows of t with 2 columns: 1 real (age); 1 binary (smokes).",
        "Label kind: 2 classes (x, y), known for 2 of 3.",
        "Label weight: numbers, known for 2 of 3.",
    ]


def test_images_and_other_items() -> None:
    images = from_arrays(np.zeros((5, 10, 9), np.uint8), {"old": [True] * 5}, name="faces")
    assert describe_data(images, images)[0] == (
        "Data: 5 images of faces, 9x10, gray; 5 more are kept for the test."
    )
    assert describe_data(images)[1] == "Label old: yes or no, known for 5 of 5."
    vectors = from_arrays(np.zeros((5, 7), np.float32))
    assert describe_data(vectors)[1] == "No labels: unsupervised, everything above is data."
    series = from_arrays(np.zeros((5, 2, 80), np.float32), name="steps")
    assert describe_data(series)[0] == "Data: 5 series of steps, 2 channels of 80 steps."
    counts = from_arrays(np.zeros((5, 7), np.int64), name="birds")
    assert describe_data(counts)[0].startswith("Data: 5 rows of birds with 7 counts each")
