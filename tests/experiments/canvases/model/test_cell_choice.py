"""Cell choice: counts from stops, a hard choice that only labels teach, and places near the chosen cell."""

from __future__ import annotations

import pytest
import torch
from scipy.stats import chi2

from experiments.canvases.model.cell_choice import CellChoice, Glances
from experiments.canvases.model.cell_map import Looks
from experiments.canvases.model.finder import LOOKS
from unknot import partial
from unknot.core.handlers import modes


def made() -> tuple[CellChoice, torch.Tensor]:
    torch.manual_seed(0)
    return CellChoice(20, 0.3, fewest=1, most=3), torch.rand(4, 1, 20, 20)


def test_known_places_say_the_cell() -> None:
    looks, x = made()
    places = torch.tensor([[0.5, -0.5, 0.3]]).expand(4, 3)
    cell = looks(x, [partial(places), None, None], None).looks[0]["cell"]
    center = cell.value @ looks.cells.centers
    assert (center - places[:, :2]).abs().max() <= looks.cells.pitch / 2 + 1e-6
    assert cell.known.all()


def test_a_count_is_a_stop_after_so_many_looks() -> None:
    looks, x = made()
    count = looks(x, [None] * 3, None).count.softmax(-1)
    with torch.no_grad():
        looks.threshold += 100.0
    none = looks(x, [None] * 3, None).count.softmax(-1)
    assert torch.allclose(count.sum(-1), torch.ones(4))
    assert torch.allclose(none[:, 0], torch.ones(4))  # the fewest


def test_the_choice_itself_passes_no_gradient_from_places() -> None:
    looks, x = made()
    looked = looks(x, [None] * 3, None)
    looked.looks[0]["place"].value.sum().backward()
    assert looks.query.weight.grad is None
    assert looks.find[0].weight.grad.abs().sum() > 0


def test_what_was_found_is_not_found_again() -> None:
    """A look takes most from its own cell, and nothing from cells far away or that see another thing."""
    looks, _ = made()
    place, centers = torch.tensor([[0.0, 0.0, 0.3]]), looks.cells.centers
    bump = looks._bump(place, centers)[0]
    assert bump.argmax() == looks.cells.nearest(place)[0]
    assert bump[centers.norm(dim=-1) > 0.9].max() < 0.01 * bump.max()
    assert looks._bump(place, centers + 0.5)[0].max() < 0.01 * bump.max()


def test_more_looks_need_no_more_weights() -> None:
    looks, x = made()
    longer = CellChoice(20, 0.3, fewest=1, most=5)
    longer.load_state_dict(looks.state_dict())
    assert longer(x, [None] * 5, None).count.shape == (4, 5)


def test_the_first_way_to_look_takes_the_best_cells_and_the_others_stray() -> None:
    looks, x = made()
    looks.eval()
    with torch.no_grad(), modes():
        best = looks(x, [None] * 3, None)
        place, count = looks.ways(x, 5)
    assert (place.shape, count.shape) == ((5, 4, 3, 3), (5, 4, 3))
    for k in range(3):
        torch.testing.assert_close(place[0, :, k], best.looks[k]["place"].value)
    torch.testing.assert_close(count[0], best.count)
    assert not torch.allclose(place[1], place[0])


def test_ways_to_look_do_not_depend_on_other_canvases() -> None:
    looks, x = made()
    looks.eval()
    with torch.no_grad():
        together, alone = looks.ways(x, 4), looks.ways(x[2:3], 4)
    torch.testing.assert_close(together[0][:, 2:3], alone[0])
    torch.testing.assert_close(together[1][:, 2:3], alone[1])


def test_other_ways_are_draws_of_half_the_logits() -> None:
    """The first look of many ways, against softmax(logits / 2): a chi-square test that fails once in a million."""
    looks, x = made()
    looks.eval()
    number = 20_000
    with torch.no_grad():
        logits = looks(x[:1], [None] * 3, None).looks[0]["cell"].dist.logits[0]
        place = looks.ways(x[:1], number)[0][1:, 0, 0]  # (W, 3)
        cells = looks._seen(x[:1])[2][0]  # (cells, 3): where each cell would lie
    chosen = (place[:, None] - cells).abs().sum(-1).argmin(-1)
    expected = (logits / 2).softmax(-1) * (number - 1)
    counts = torch.bincount(chosen, minlength=len(cells))
    statistic = ((counts - expected).square() / expected).sum()
    assert chi2.sf(float(statistic), len(cells) - 1) > 1e-6


# ---- Both encoders of places answer alike ----------------------------------------------------------------


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("samples", [None, 2])
def test_counts_and_a_place_for_every_look(name: str, samples: int | None) -> None:
    torch.manual_seed(0)
    looks: Looks = LOOKS[name](20, 0.3, fewest=0, most=2)
    known = partial(torch.tensor([[0.1, 0.2, 0.3], [torch.nan] * 3, [-0.5, 0.0, 0.3]]))
    looked = looks(torch.rand(3, 1, 20, 20), [known, None], samples)
    assert looked.count.shape[-2:] == (3, 3)
    assert len(looked.looks) == 2
    leading = (3,) if samples is None else (samples, 3)
    for look in looked.looks:
        assert look["place"].value.shape == (*leading, 3)
    first = looked.looks[0]["place"]
    assert first.known.tolist() == [True, False, True]
    assert torch.equal(first.value[..., 2, :].reshape(-1, 3)[0], known.values[2])


# ---- Glances: S17's encoder of places --------------------------------------------------------------------


def test_places_depend_on_the_canvas_and_on_the_look() -> None:
    torch.manual_seed(0)
    looks = Glances(20, 0.3, fewest=1, most=3).eval()
    looked = looks(torch.rand(2, 1, 20, 20), [None] * 3, None)
    means = torch.stack([look["place"].dist.mean for look in looked.looks])  # (3, B, 3)
    assert looked.count.shape == (2, 3)
    assert not torch.allclose(means[0], means[1])
    assert not torch.allclose(means[:, 0], means[:, 1])


def test_looks_do_not_know_how_many_there_are() -> None:
    """As S17 draws it: the count comes from the canvas, and the places whatever the count."""
    torch.manual_seed(0)
    looks = Glances(20, 0.3, fewest=1, most=3)
    looks(torch.rand(2, 1, 20, 20), [None] * 3, None).count.sum().backward()
    assert looks.next.weight_ih.grad is None
    assert looks.find.weight.grad is None
