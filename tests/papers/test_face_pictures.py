"""Pictures of faces: a person under many lights, and many people under one."""

from __future__ import annotations

from pathlib import Path

import torch

from tests.workflow.models import like
from unknot.papers.face_pictures import CAPTIONS, draw_faces
from unknot.papers.faces import MODEL
from unknot.papers.toy_faces import toy_faces


def test_both_pictures_are_drawn(tmp_path: Path) -> None:
    torch.manual_seed(0)
    data = toy_faces(people=38, lights=3, seed=0)
    draw_faces(like(MODEL, data), data, tmp_path)
    assert {path.stem for path in tmp_path.glob("*.png")} == set(CAPTIONS)
