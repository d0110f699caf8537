"""dsprites-best: codes of a pose as the metrics take them, and pictures in which one code moves at a time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from experiments.ledger.fit import fitted
from experiments.sprites.dsprites_best import SHOWN, _swept, cases, codes_of_pose, program
from experiments.sprites.sprites import toy_sprites
from unknot.metrics import Probabilities
from unknot.workflow.trained_model import TrainedModel


def small() -> tuple[TrainedModel, torch.Tensor]:
    case = cases("smoke")[0]
    data = replace(toy_sprites(60), factors={})
    model = {"program": f"{program.__file__}:Posed", "arguments": case["arguments"]}
    return fitted(data.split("train"), 0, {**case["train"], "steps": 2}, model), data.batch(torch.arange(5)).x


def test_codes_are_a_class_and_four_numbers() -> None:
    model, x = small()
    codes = codes_of_pose(model, x)
    assert isinstance(codes["class"], Probabilities)
    assert {name: np.shape(codes[name]) for name in ("place", "scale", "angle")} == {
        "place": (5, 2),
        "scale": (5, 1),
        "angle": (5, 1),
    }


def test_a_row_of_the_picture_changes_one_code() -> None:
    model, x = small()
    swept = _swept(model, x[:1])
    assert swept.shape == (5, SHOWN, 1, 16, 16)
    ink = swept[:, :, 0] - swept.min()
    columns = np.arange(16)
    right = (ink.sum(2) * columns).sum(-1) / ink.sum((2, 3))  # (codes, SHOWN)
    down = (ink.sum(3) * columns).sum(-1) / ink.sum((2, 3))
    assert (np.diff(right[1]) > 0).all()  # x moves to the right, and y down
    assert (np.diff(down[2]) > 0).all()
    assert np.ptp(down[1]) < 0.2
    assert np.ptp(right[2]) < 0.2
    assert (np.diff(ink[3].sum((1, 2))) > 0).all()  # scale: more ink


def test_restarts_differ_by_seed_and_all_cases_name_their_tier() -> None:
    (quick,) = cases("quick")
    assert quick["restarts"] == 3
    assert quick["arguments"]["canvas"] == 32
    assert quick["arguments"]["pixels"] == 4


def test_the_model_goes_through_the_ordinary_doors(tmp_path: Path) -> None:
    model, x = small()
    model.save(tmp_path / "model")
    again = TrainedModel.load(tmp_path / "model")
    torch.testing.assert_close(again.reconstruct(x), model.reconstruct(x))
    assert again.sample(3, {"class": 2}).shape == (3, 1, 16, 16)
    assert again.vary(x, "class", torch.arange(3)).shape == (5, 3, 1, 16, 16)
    assert {"class", "place", "scale"} <= {node.name for node in again.latents}
