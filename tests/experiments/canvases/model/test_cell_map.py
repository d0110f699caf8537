"""Cells: where they lie, and that a turned canvas is turned back."""

from __future__ import annotations

import pytest
import torch

from experiments.canvases.model.cell_map import CellMap, directions_back, over_views, turned, turned_back


@pytest.mark.parametrize("symmetry", range(8))
def test_turning_back_undoes_turning(symmetry: int) -> None:
    images = torch.arange(9.0).reshape(1, 1, 3, 3)
    assert torch.equal(turned_back(turned(images, symmetry), symmetry), images)


def test_the_eight_symmetries_differ() -> None:
    images = torch.arange(9.0).reshape(3, 3)
    assert len({tuple(turned(images, s).flatten().tolist()) for s in range(8)}) == 8


@pytest.mark.parametrize("symmetry", range(8))
def test_directions_turn_back_as_pixels_do(symmetry: int) -> None:
    """A dot that lies to one side of the middle of the turned image, and where it lies in the image itself."""
    image = torch.zeros(5, 5)
    image[1, 4] = 1  # x = 2, y = -1 from the middle
    y, x = (turned(image, symmetry) == 1).nonzero()[0] - 2
    direction = torch.stack([x, y]).float() @ directions_back(symmetry, image)
    assert direction.tolist() == [2.0, -1.0]


@pytest.mark.parametrize(("canvas", "side"), [(50, 13), (20, 5)])
def test_cells_lie_evenly_and_symmetrically(canvas: int, side: int) -> None:
    cells = CellMap(canvas, 8)
    assert cells.side == side
    assert cells.centers.shape == (side**2, 2)
    torch.testing.assert_close(cells.centers, -cells.centers.flip(0))
    assert cells.nearest(cells.centers + 0.4 * cells.pitch).tolist() == list(range(side**2))


def test_a_cell_sees_what_lies_at_its_center() -> None:
    """Features move with what is on the canvas, one cell for every four pixels."""
    torch.manual_seed(0)
    cells = CellMap(48, 8).eval()
    canvas = torch.zeros(2, 1, 48, 48)
    canvas[0, 0, 16:24, 20:28] = canvas[1, 0, 20:28, 20:28] = 1
    features = cells(canvas)[0][0].unflatten(1, (12, 12))  # (B, rows, columns, D)
    torch.testing.assert_close(features[0, 3:7], features[1, 4:8])
    assert not torch.allclose(features[0], features[1])


def test_training_sees_turned_canvases_and_evaluation_each_in_eight_ways() -> None:
    torch.manual_seed(0)
    cells, canvas = CellMap(20, 8), torch.rand(3, 1, 20, 20)
    assert len({cells(canvas)[0][0].sum().item() for _ in range(12)}) > 2
    cells.eval()
    views = cells(canvas)
    assert len(views) == 8
    assert torch.equal(views[0][1], torch.eye(2))
    for symmetry, (features, back) in enumerate(views):
        assert torch.equal(back, directions_back(symmetry, canvas))
        own = cells(turned(canvas, symmetry))[0][0].mT.unflatten(-1, (5, 5))  # (B, D, rows, columns)
        torch.testing.assert_close(features, turned_back(own, symmetry).flatten(-2).mT)
    whole = over_views([features for features, _ in views])
    torch.testing.assert_close(whole, sum(features for features, _ in views) / 8)


def test_seen_once_is_one_view_and_all_eight_come_back() -> None:
    cells, x = CellMap(20).eval(), torch.rand(2, 1, 20, 20)
    with cells.seen_once():
        (features, back), *others = cells(x)
    assert not others
    assert torch.equal(back, torch.eye(2))
    every = cells(x)
    assert len(every) == 8
    torch.testing.assert_close(every[0][0], features)
