"""What zero-shot-sprites holds out, and that no setting depends on where the package lies."""

from __future__ import annotations

import json

import pytest
import torch

from experiments.sprites import dsprites, dsprites_best
from experiments.sprites.sprites import toy_sprites
from experiments.sprites.zero_shot_sprites import MEAN, PLACE, POSED, SHAPE, cases, held_out, run
from unknot.data import hold_out


def test_one_shape_in_the_right_half_is_held_out_and_nothing_else() -> None:
    data = toy_sprites(400)
    seen, unseen = hold_out(data, held_out(data))
    assert unseen.factors[SHAPE].values.unique().tolist() == [1]
    assert sorted(unseen.factors[PLACE].values.unique().tolist()) == [3, 4, 5]
    kept = seen.factors[SHAPE].values == 1
    assert int(seen.factors[PLACE].values[kept].max()) == 2
    assert len(seen.factors[PLACE].values.unique()) == 6


def test_rows_are_trained_as_where_they_come_from() -> None:
    rows = {case["row"]: case for case in cases("quick")}
    own = {case["row"]: case for case in dsprites.cases("quick")}
    for row in ("VAE", dsprites.PRINTED):
        assert rows[row] == own[row]
    assert rows[POSED]["train"] == dsprites_best.cases("quick")[0]["train"]
    assert "posed.py" not in json.dumps(list(rows.values()))


def test_the_mean_place_of_the_seen_is_off_by_where_the_unseen_are() -> None:
    case = next(case for case in cases("smoke") if case["row"] == MEAN)
    data = toy_sprites(case["items"])
    train, test = data.split("train"), data.split("test")
    places = [
        float(place)
        for shape, place in zip(train.factors[SHAPE].values, train.factors[PLACE].values, strict=True)
        if shape == 1 and place < 3
    ]
    mean = sum(places) / len(places)
    held = hold_out(test, held_out(data))[1].factors[PLACE].values
    slow = torch.tensor([(float(v) - mean) ** 2 for v in held]).mean().sqrt()
    assert run(case, 0, None)["unseen_place"] == pytest.approx(float(slow), rel=1e-4)
