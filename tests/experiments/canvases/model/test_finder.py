"""Finder: its two programs are those of the whole model, without what the things are."""

from __future__ import annotations

import math

import pytest
import torch

import unknot
from experiments.canvases.model.finder import LOOKS, Finder, log_weights
from tests.experiments.canvases.model.test_canvas import labels, made, make_unsure
from unknot.core.handlers import modes
from unknot.errors import SpecError
from unknot.objectives import elbo
from unknot.objectives.encoder_objectives import supervised


@pytest.mark.parametrize("looks", LOOKS)
def test_labels_teach_it_alone_what_they_teach_it_in_the_whole_model(looks: str) -> None:
    """While the nested model is frozen and all is known, its digits add numbers but no gradient."""
    model, x = made(looks).eval(), torch.rand(4, 1, 20, 20)
    told = {
        "count": torch.tensor([2, 2, 1, 1]),
        "place_1": torch.tensor([[-0.4, 0.0, 0.3]]).repeat(4, 1),
        "place_2": torch.tensor([[0.4, 0.1, 0.3]]).repeat(4, 1),
    }
    gradients = []
    for trained in (model, model.finder):
        model.zero_grad()
        q = trained.encode(x, {**told, "digit_1": torch.full((4,), 3)})
        torch.manual_seed(0)  # the third thing, which is not there, is drawn
        supervised(q, unknot.Trace(), alpha=5.0).loss.backward()
        gradients.append([w.grad.clone() for w in model.finder.parameters() if w.grad is not None])
    assert len(gradients[0]) == len(gradients[1]) > 0
    for whole, alone in zip(*gradients, strict=True):
        torch.testing.assert_close(alone, whole, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("looks", LOOKS)
def test_the_two_programs_belong_together(looks: str) -> None:
    torch.manual_seed(0)
    finder = Finder(looks, canvas=20, size=0.3, fewest=0, most=3)
    q = finder.encode(torch.rand(4, 1, 20, 20), labels(), samples=2)
    p = finder.decode(q)
    unknot.check(q, p)
    assert elbo(q, p).per_item.shape == (4,)
    assert "x" not in p


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(SpecError, match="cell_choice"):
        Finder("cell_choise", 20, 0.3, 0, 3)
    with pytest.raises(SpecError, match="fewest < most"):
        Finder("glances", 20, 0.3, 3, 3)
    with pytest.raises(SpecError, match="cell_choice"):
        Finder("glances", 20, 0.3, 0, 3).look_up_to(5)


def test_readings_are_the_different_counts_of_several_ways_to_look() -> None:
    torch.manual_seed(0)
    finder = Finder("cell_choice", canvas=20, size=0.3, fewest=0, most=3).eval()
    x = torch.rand(6, 1, 20, 20)
    with torch.no_grad():
        make_unsure(finder.looks, x)
        item, told = finder.candidates(x, ways=30)
        assert set(told) == {"count", "place_1", "place_2", "place_3"}
        assert 0 < len(item.unique()) <= 6
        for row in item.unique():
            counts = told["count"][item == row]
            assert len(counts.unique()) > 1
            places = torch.stack([told[f"place_{k + 1}"][item == row] for k in range(3)], 1)  # (R, 3, 3)
            assert torch.equal((~places[..., 0].isnan()).sum(1), counts)
            for i, one in enumerate(places.nan_to_num()):
                for j in range(i):
                    near = (one - places[j].nan_to_num()).abs().max() <= finder.looks.cells.pitch / 2
                    assert counts[i] != counts[j] or not near
        # whoever is told the places of a reading comes to its count
        places = {name: values for name, values in told.items() if name != "count"}
        with modes():
            q = finder.encode(x[item], places)
    assert torch.equal(q["more"].value, told["count"])


def test_one_way_or_glances_leave_nothing_to_read() -> None:
    x = torch.rand(2, 1, 20, 20)
    assert len(Finder("cell_choice", 20, 0.3, 0, 3).candidates(x, ways=1)[0]) == 0
    assert len(Finder("glances", 20, 0.3, 0, 3).candidates(x, ways=9)[0]) == 0


# ---- Layout: the formula point by point; inside the canvas, and apart ------------------------------------


def sigmoid(v: float) -> float:
    return 1 / (1 + math.exp(-v))


def test_is_the_formula_point_by_point() -> None:
    torch.manual_seed(0)
    points = torch.rand(7, 2) * 2 - 1
    earlier = [
        torch.tensor([[-0.3, 0.1, 0.4], [0.5, 0.5, 0.5]]),
        torch.tensor([[0.2, -0.4, 0.3], [0.0, 0.0, 0.6]]),
    ]
    found = log_weights(points, earlier, size=0.45)
    for b in range(2):
        for i, (x, y) in enumerate(points.tolist()):
            expected = math.log(sigmoid((0.72 - abs(x)) / 0.05)) + math.log(sigmoid((0.66 - abs(y)) / 0.05))
            for place in earlier:
                u, v, scale = place[b].tolist()
                side = scale + 0.45
                across = sigmoid((abs(x - u) / side - 0.55) / 0.05)
                up = sigmoid((abs(y - v) / side - 0.68) / 0.05)
                expected += math.log(0.02 + 1 - (1 - across) * (1 - up))
            assert math.isclose(found[b, i].item(), expected, rel_tol=1e-4, abs_tol=1e-4)


def test_things_lie_inside_and_apart() -> None:
    points = torch.tensor([[0.0, 0.0], [0.95, 0.0], [0.0, -0.9], [0.1, 0.1], [0.6, 0.0]])
    middle, right, top, near, aside = log_weights(points, [], 0.45).tolist()
    assert min(middle, near, aside) > max(right, top) + 3
    middle, _, _, near, aside = log_weights(points, [torch.tensor([0.0, 0.0, 0.45])], 0.45).tolist()
    assert aside > max(middle, near) + 3
