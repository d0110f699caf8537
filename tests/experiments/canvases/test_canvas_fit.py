"""Canvases, their labels, and the model of digits that is nested."""

from __future__ import annotations

import json

import torch

from experiments.canvases.canvas_fit import canvases, counter_accuracy, digit_model, fitted_canvas, labeled
from experiments.canvases.multi_mnist import FEW, cases
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor


def test_labeled_canvases_show_everything_and_the_others_nothing() -> None:
    train = canvases("digits", n=60).split("train")
    shown = labeled(train, 10, seed=0)
    known = shown.factor("count").known
    assert int(known.sum()) == 10
    for name, factor in train.factors.items():
        assert torch.equal(shown.factor(name).known, factor.known & known)
    assert labeled(train, None, seed=0) is train
    assert not any(factor.known.any() for factor in labeled(train, 0, seed=0).factors.values())
    assert not torch.equal(labeled(train, 10, seed=1).factor("count").known, known)


def test_the_digit_model_is_nested_as_it_was_saved() -> None:
    settings = cases("smoke")[0]
    data = labeled(canvases("digits", n=60).split("train"), 20, seed=0)
    model = fitted_canvas(data, settings, seed=0)
    saved = digit_model("digits", json.dumps(settings["digit"], sort_keys=True))
    from unknot.workflow.trained_model import TrainedModel

    own = TrainedModel.load(saved.name).module.state_dict()
    inside = model.module.digit.module.state_dict()
    assert all(torch.equal(weights, inside[name]) for name, weights in own.items())
    assert model.predict(torch.zeros(2, *model.shape)).predictions["count"].shape == (2, 4)


def test_constituent_images_are_labels_like_the_others() -> None:
    """Known for some canvases, they go through the whole: the count is read, and the images join the objective."""
    case = next(
        case for case in cases("smoke") if case["column"] == FEW and "finder" in case and case["train"]
    )
    data = labeled(canvases("digits", n=60, with_images=True).split("train"), 20, seed=0)
    assert data.factor("image_1").known.sum() == 20
    model = fitted_canvas(data, case, seed=0)
    batch = data.batch(data.factor("count").known.nonzero()[:8, 0])
    q = model.module.encode(batch.x, batch.values)
    assert "thing[0].image" in q
    assert model.predict(batch.x).predictions["count"].shape == (8, 4)


# ---- The plain counter learns to count -------------------------------------------------------------------


def squares(n: int) -> Dataset:
    """Canvases with one to three bright squares."""
    count = torch.arange(n) % 3 + 1
    x = torch.zeros(n, 1, 16, 16)
    for item, number in enumerate(count.tolist()):
        for k in range(number):
            x[item, 0, 1:5, 1 + 5 * k : 5 + 5 * k] = 1
    return Dataset("squares", x, torch.arange(n), {"count": Factor("count", "count", count)})


def test_it_learns_from_the_labeled_canvases() -> None:
    train = {"steps": 60, "batch_size": 16, "learning_rate": 1e-2, "objective": "supervised"}
    assert counter_accuracy(squares(48), squares(9), train, seed=0) > 90
