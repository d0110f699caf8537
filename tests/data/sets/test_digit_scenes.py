"""Where the digits go: inside the canvas, apart where that can be, least overlap where it cannot."""

import torch

from unknot.data.sets import digit_scenes
from unknot.data.sets.digit_scenes import Scenes, Sources, draw_scenes, ink_boxes, little_overlap


def squares(first: int, last: int) -> Sources:
    """Source images with ink from row and column `first` to `last` (inclusive)."""
    images = torch.zeros(40, 28, 28, dtype=torch.uint8)
    images[:, first : last + 1, first : last + 1] = 200
    return Sources(images, torch.arange(40) % 10)


def scenes(sources: Sources, n: int = 300) -> Scenes:
    generator = torch.Generator().manual_seed(0)
    return draw_scenes(sources, torch.arange(40), n, 50, (1, 2, 3), generator)


def boxes(drawn: Scenes, first: int, last: int) -> list[list[tuple[float, float, float, float]]]:
    """Left, right, top, bottom of each digit on each canvas in pixels, by hand from the labels."""
    result = []
    for row in range(len(drawn.count)):
        item = []
        for k in range(int(drawn.count[row])):
            x, y, scale = drawn.place[row, k].tolist()
            zoom, cx, cy = scale * 50 / 28, (x + 1) * 25, (y + 1) * 25
            low, high = (first - 14) * zoom, (last + 1 - 14) * zoom
            item.append((cx + low, cx + high, cy + low, cy + high))
        result.append(item)
    return result


def area(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    wide, tall = min(a[1], b[1]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[2], b[2])
    return max(wide, 0.0) * max(tall, 0.0)


def test_small_digits_are_inside_and_apart():
    for item in boxes(scenes(squares(8, 19)), 8, 19):
        for i, a in enumerate(item):
            assert min(a) > -1e-3
            assert max(a) < 50 + 1e-3
            assert all(area(a, b) < 1e-3 for b in item[:i])


def test_large_digits_overlap_little_but_stay_inside():
    """Full 28x28 squares cannot always be apart; most still are, which a random placement would not give."""
    overlaps = []
    for item in boxes(scenes(squares(1, 26)), 1, 26):
        assert all(min(a) > -1e-3 and max(a) < 50 + 1e-3 for a in item)
        if len(item) == 2:
            overlaps.append(area(*item))
    assert sum(a == 0 for a in overlaps) > 0.7 * len(overlaps)


def test_the_first_try_without_overlap_wins_else_the_smallest(monkeypatch):
    """Against a loop over the same tries."""
    monkeypatch.setattr(digit_scenes, "TRIES", 5)
    box = torch.tensor([-11.0, 11.0, -9.0, 9.0]).expand(60, 3, 4)
    present = torch.arange(3) < torch.randint(1, 4, (60, 1), generator=torch.Generator().manual_seed(1))
    chosen = little_overlap(box, present, 50, torch.Generator().manual_seed(2))
    share = torch.rand((60, 5, 3, 2), generator=torch.Generator().manual_seed(2))
    centers = torch.tensor([11.0, 9.0]) + torch.tensor([28.0, 32.0]) * share
    for row in range(60):
        costs = []
        for t in range(5):
            at = [
                (x - 11, x + 11, y - 9, y + 9)
                for (x, y), there in zip(centers[row, t].tolist(), present[row].tolist(), strict=True)
                if there
            ]
            costs.append(sum(area(at[i], at[j]) for i in range(len(at)) for j in range(i)))
        torch.testing.assert_close(chosen[row], centers[row, costs.index(min(costs))])


def test_ink_boxes_are_measured_from_the_centre_with_half_a_pixel_around():
    images = torch.zeros(2, 28, 28, dtype=torch.uint8)
    images[0, 3:10, 5:21] = 1
    assert ink_boxes(images).tolist() == [[-9.5, 7.5, -11.5, -3.5], [-14.5, 14.5, -14.5, 14.5]]


def test_each_source_image_is_used_equally_often():
    drawn = scenes(squares(8, 19), n=400)
    used = drawn.source[drawn.digit >= 0].bincount(minlength=40)
    assert int(used.max() - used.min()) <= 1
    assert torch.equal(squares(8, 19).labels[drawn.source][drawn.digit >= 0], drawn.digit[drawn.digit >= 0])
