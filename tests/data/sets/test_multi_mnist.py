"""Multi-MNIST: balance, placement, labels that cut the digit out again, no leak between splits."""

import pytest
import torch
from torch.nn import functional as F

from unknot.data.dataset import Dataset
from unknot.data.sets.multi_mnist import make_multi_mnist, shares
from unknot.errors import DataError

SIDE, CANVAS = 28, 50
SPLITS = {"train": torch.arange(160), "test": torch.arange(160, 200)}


@pytest.fixture(scope="module")
def sources() -> tuple[torch.Tensor, torch.Tensor]:
    """200 squares of ink. The brightness tells the source image: 50 + its row."""
    images = torch.zeros(200, SIDE, SIDE, dtype=torch.uint8)
    labels = torch.arange(200) % 10
    for i in range(200):
        images[i, 6 : 14 + i % 8, 9 : 15 + i % 5] = 50 + i
    return images, labels


@pytest.fixture(scope="module")
def made(sources) -> Dataset:
    return make_multi_mnist(*sources, n=600, seed=3, splits=SPLITS)


def slots(data: Dataset, name: str) -> torch.Tensor:
    return torch.stack([data.factors[f"{name}_{k}"].values for k in (1, 2, 3)], 1)


def test_counts_and_digits_are_balanced(made):
    for part in ("train", "test"):
        data = made.split(part)
        counts = data.factors["count"].values
        assert spread(counts.bincount()[1:]) <= 1
        digit = slots(data, "digit")
        assert spread((digit + 1).flatten().bincount()[1:]) <= 1
        for k in (1, 2, 3):
            assert spread((digit[counts == k] + 1).flatten().bincount(minlength=11)[1:]) <= 1


def spread(counts: torch.Tensor) -> int:
    return int(counts.max() - counts.min())


def test_slots_beyond_the_count_have_no_label_and_the_others_run_from_left_to_right(made):
    count, digit, place = made.factors["count"].values, slots(made, "digit"), slots(made, "place")
    used = torch.arange(3) < count[:, None]
    assert torch.equal(digit >= 0, used)
    assert torch.equal(~place.isnan().any(-1), used)
    x = place[..., 0]
    assert not (x[:, 1:] < x[:, :-1]).any()
    for factor in made.factors.values():
        factor.refuse_wrong_values()


def cut_out(data: Dataset, row: int, slot: int) -> torch.Tensor:
    x, y, scale = data.factors[f"place_{slot}"].values[row].tolist()
    grid = F.affine_grid(
        torch.tensor([[[scale, 0, x], [0, scale, y]]]), [1, 1, SIDE, SIDE], align_corners=False
    )
    return F.grid_sample(data.x[row : row + 1].float(), grid, align_corners=False)[0, 0]


def test_places_cut_the_source_image_out_again(made, sources):
    """The brightest pixel of the cut tells the source image, whose digit must be the label."""
    images, labels = sources
    for row in range(0, 600, 20):
        for slot in range(1, int(made.factors["count"].values[row]) + 1):
            cut = cut_out(made, row, slot)
            source = round(float(cut[9:12, 11:13].max())) - 50  # deep in the ink of every source image
            assert int(labels[source]) == int(made.factors[f"digit_{slot}"].values[row])
            assert (cut - images[source].float())[9:12, 11:13].abs().max() < 2


def test_rendering_agrees_with_grid_sample(made, sources):
    """One digit drawn with the matrices equals torch's own bilinear sampling."""
    images, _ = sources
    row = int((made.factors["count"].values == 1).nonzero()[0])
    x, y, scale = made.factors["place_1"].values[row].tolist()
    theta = torch.tensor([[[1 / scale, 0, -x / scale], [0, 1 / scale, -y / scale]]])
    grid = F.affine_grid(theta, [1, 1, CANVAS, CANVAS], align_corners=False)
    source = int(made.x[row].max()) - 50
    drawn = F.grid_sample(images[source][None, None].float(), grid, align_corners=False)
    assert (drawn - made.x[row].float()).abs().max() <= 0.51  # rounding to bytes


def test_sources_stay_in_their_split(made):
    single = made.factors["count"].values == 1
    brightest = made.x.flatten(1).amax(1).long() - 50
    for part, rows in SPLITS.items():
        inside = torch.zeros(600, dtype=torch.bool).index_fill(0, made.splits[part], True)
        assert torch.isin(brightest[inside & single], rows).all()
    assert (made.splits["train"].numel(), made.splits["test"].numel()) == (480, 120)


def test_the_seed_decides_and_global_state_does_not(sources, made):
    before = torch.random.get_rng_state()
    again = make_multi_mnist(*sources, n=600, seed=3, splits=SPLITS)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(again.x, made.x)
    assert torch.equal(slots(again, "digit"), slots(made, "digit"))
    assert not torch.equal(make_multi_mnist(*sources, n=600, seed=4, splits=SPLITS).x, made.x)


def test_magnification_does_not_depend_on_the_count(sources):
    """Mean scale of single digits and of three: equal within 5 standard errors."""
    data = make_multi_mnist(*sources, n=3000, seed=0)
    count, scale = data.factors["count"].values, slots(data, "place")[..., 2]
    one, three = scale[count == 1, 0], scale[count == 3].flatten()
    error = (one.var() / len(one) + three.var() / len(three)).sqrt()
    assert (one.mean() - three.mean()).abs() < 5 * error
    assert data.splits == {}


def test_other_counts_and_canvas(sources):
    data = make_multi_mnist(*sources, n=50, canvas=80, counts=(2, 5))
    assert data.x.shape == (50, 1, 80, 80)
    assert data.factors["count"].values.unique().tolist() == [2, 5]
    assert "digit_5" in data.factors


def test_empty_canvases_are_empty(sources):
    data = make_multi_mnist(*sources, n=60, counts=(0, 1, 2))
    empty = data.factors["count"].values == 0
    assert int(empty.sum()) == 20
    assert int(data.x[empty].max()) == 0
    assert bool((data.factors["digit_1"].values[empty] == -1).all())


def test_sources_give_the_constituent_images(sources):
    images, labels = sources
    data = make_multi_mnist(*sources, n=60, seed=1, with_sources=True)
    assert torch.equal(make_multi_mnist(*sources, n=60, seed=1).x, data.x)  # nothing else changes
    for k in (1, 2, 3):
        rows, digit = data.factors[f"source_{k}"].values, data.factors[f"digit_{k}"].values
        assert torch.equal(rows >= 0, digit >= 0)
        assert torch.equal(labels[rows[rows >= 0]], digit[digit >= 0])
    row = int((data.factors["count"].values == 1).nonzero()[0])
    assert int(data.x[row].max()) == int(images[int(data.factors["source_1"].values[row])].max())


def test_digits_may_overlap_where_they_are_not_kept_apart(sources):
    """A pixel that two of three digits cover counts once, so overlap shows as missing ink."""

    def ink(apart: bool) -> float:
        data = make_multi_mnist(*sources, n=200, seed=0, counts=(3,), apart=apart)
        return float((data.x > 0).float().mean())

    assert ink(False) < 0.97 * ink(True)  # the same digits and sizes; 0.958 with this seed


def test_shares_add_up():
    assert shares(82000, [60000, 10000]) == [70286, 11714]
    assert sum(shares(101, [1, 1, 1])) == 101


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"canvas": 20}, "canvas of at least 28"),
        ({"counts": (0,)}, "not all of them 0"),
        ({"counts": (-1, 1)}, "counts >= 0"),
        ({"n": 0}, "n >= 1"),
        ({"labels": torch.zeros(3)}, "needs its label"),
        ({"images": torch.zeros(200, 28, 28)}, r"uint8 \(M, S, S\)"),
    ],
)
def test_impossible_requests_are_refused(sources, change, message):
    arguments = {"images": sources[0], "labels": sources[1], "n": 10, **change}
    with pytest.raises(DataError, match=message):
        make_multi_mnist(**arguments)


def test_constituent_images_can_be_had_as_labels(sources):
    images, _ = sources
    data = make_multi_mnist(*sources, n=60, seed=1, with_sources=True, with_images=True)
    for k in (1, 2, 3):
        rows, found = data.factors[f"source_{k}"].values, data.factors[f"image_{k}"].values
        there = rows >= 0
        assert torch.equal((found[there] * 255).round().to(torch.uint8), images[rows[there]].flatten(1))
        assert found[~there].isnan().all()
        assert torch.equal(data.factors[f"image_{k}"].known, there)
