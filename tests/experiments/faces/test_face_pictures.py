"""Pictures of faces: a person under many lights, and many people under one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from experiments.faces.face_pictures import CAPTIONS, draw_beside_truth, draw_faces
from experiments.faces.faces import MODEL, toy_faces
from tests.workflow.models import like


def test_both_pictures_are_drawn(tmp_path: Path) -> None:
    torch.manual_seed(0)
    data = toy_faces(people=38, lights=3, seed=0)
    draw_faces(like(MODEL, data), data, tmp_path)
    assert {path.stem for path in tmp_path.glob("*.png")} == set(CAPTIONS)


def test_a_line_for_each_step_from_photograph_to_truth(tmp_path: Path) -> None:
    real = np.random.default_rng(0).random((12, 8, 7))
    person, other = np.repeat(np.arange(4), 3), np.roll(np.arange(12), 1)
    draw_beside_truth(real, other, real, other, real, person, tmp_path)
    assert (tmp_path / "beside-truth.png").stat().st_size > 1000
