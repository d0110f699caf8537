"""Two views of columns: standardized and by rank, holes filled and marked, and back to entries."""

import math
from statistics import NormalDist

import torch
from scipy.stats import norm

from tests.models.tables import rows_of, table
from tests.statistics import assert_distribution, assert_frequencies
from unknot.models.ensemble.table_views import MOST_KNOTS, RANK, STANDARD, TableFill, TableViews

NAN = float("nan")
REAL = ({"name": "a", "kind": "real"},)


def learned(column: list[float]) -> TableViews:
    views = TableViews(REAL, len(column))
    views.learn(torch.tensor(column)[:, None])
    return views


def test_ranks_are_normal_quantiles_of_the_middle_rank() -> None:
    column = [1.0, 5.0, 5.0, 9.0]
    views = learned(column)
    quantile = [NormalDist().inv_cdf(r / 5) for r in (1, 2.5, 2.5, 4)]
    mean = sum(quantile) / 4
    sd = math.sqrt(sum((q - mean) ** 2 for q in quantile) / 4)
    found = views(torch.tensor(column)[:, None]).columns[RANK, :, 0]
    torch.testing.assert_close(found, torch.tensor([(q - mean) / sd for q in quantile]))


def test_the_other_view_is_standardised_and_clipped() -> None:
    views = learned([0.0, 2.0])
    assert views(torch.tensor([[0.0], [2.0], [1000.0]])).columns[STANDARD, :, 0].tolist() == [-1.0, 1.0, 8.0]


def test_outside_the_range_a_rank_stays_at_its_end() -> None:
    views = learned([float(i) for i in range(50)])
    ends = views(torch.tensor([[-1e6], [1e6]])).columns[RANK, :, 0]
    assert ends.isfinite().all()
    torch.testing.assert_close(ends[0], -ends[1])


def test_inputs_are_both_views_and_a_mark_for_each_column_with_holes() -> None:
    data = table(holes=True)
    views = TableViews(
        [
            {"name": "a", "kind": "real", "missing": True},
            {"name": "b", "kind": "real"},
            {"name": "c", "kind": "real"},
            {"name": "d", "kind": "category", "size": 3, "missing": True},
        ],
        len(data),
    )
    views.learn(rows_of(data))
    seen = views(rows_of(data))
    assert seen.inputs.shape == (60, views.inputs) == (60, 2 * 6 + 4)
    assert seen.inputs[0, -4:].tolist() == [0.5, 0.0, 0.0, 0.0]
    assert seen.inputs[3, -4:].tolist() == [0.0, 0.5, 0.5, 0.5]
    assert seen.seen[3].tolist() == [True, True, True, False, False, False]
    assert seen.columns.isfinite().all()


def test_entries_go_back_to_the_rows() -> None:
    data = table()
    rows = rows_of(data)
    columns = [{"name": n, "kind": "real"} for n in "abc"] + [{"name": "d", "kind": "category", "size": 3}]
    views = TableViews(columns, len(data))
    views.learn(rows)
    both = views(rows).columns
    torch.testing.assert_close(views.entries(both[STANDARD], rank=False), rows, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(views.entries(both[RANK], rank=True)[:, 3], rows[:, 3])
    back = views.entries(both[RANK], rank=True)[:, :3]
    torch.testing.assert_close(back, rows[:, :3], atol=2e-2, rtol=2e-2)


def test_long_columns_keep_a_sample_of_their_order() -> None:
    column = torch.arange(10_000.0)[:, None]
    views = TableViews(REAL, 10_000)
    views.learn(column)
    assert views.knots.shape == (1, MOST_KNOTS)
    found = views(column[::100]).columns[RANK, :, 0]
    expected = torch.special.ndtri((column[::100, 0] + 0.5) / 10_000)
    assert (found - expected.clamp(-3, 3)).abs().max() < 0.3
    assert (found - expected)[10:-10].abs().max() < 0.02


def test_draws_have_each_columns_noise_and_shares() -> None:
    torch.manual_seed(0)
    count = 20_000
    columns = [
        {"name": "a", "kind": "real"},
        {"name": "b", "kind": "binary"},
        {"name": "c", "kind": "category", "size": 3},
        {"name": "d", "kind": "count"},
    ]
    rows = torch.tensor([[2.0, 0, 0, 1], [4.0, 1, 1, 7], [6.0, 1, 2, 4], [8.0, 0, 0, 0]])
    views = TableViews(columns, 4)
    views.learn(rows)
    spread = math.sqrt(5)  # of the first column, whose mean is 5
    unit = [
        (1 - mean) / math.sqrt(mean * (1 - mean)) for mean in (0.5, 0.5, 0.25, 0.25)
    ]  # an entry that is 1
    none = [-mean / math.sqrt(mean * (1 - mean)) for mean in (0.5, 0.5, 0.25, 0.25)]
    share = torch.tensor([0.3, 0.2, 0.7, 0.1])
    at = torch.tensor(none) + share * (torch.tensor(unit) - torch.tensor(none))
    view = torch.cat([torch.tensor([0.5]), at, torch.zeros(1)]).expand(count, 6)
    drawn = views.drawn(view, torch.tensor([0.2, 9.0, 9.0, 9.0, 9.0, 1.0]), rank=False)
    assert_distribution(drawn[:, 0], norm(5 + 0.5 * spread, 0.2 * spread).cdf)
    assert_frequencies(drawn[:, 1].long().bincount(), torch.tensor([0.7, 0.3]))
    assert_frequencies(drawn[:, 2].long().bincount(), share[1:])
    assert bool((drawn[:, 3] == drawn[:, 3].round()).all())
    assert drawn[:, 3].min() == 0


def test_a_category_is_its_one_hot_columns() -> None:
    entry = torch.tensor([0.0, 2, 1, 2, NAN, 0, 2])
    spread = torch.where(entry.isnan()[:, None], NAN, torch.eye(3)[entry.nan_to_num().long()])
    category = TableViews([{"name": "c", "kind": "category", "size": 3, "missing": True}], 7)
    columns = TableViews([{"name": n, "kind": "real", "missing": True} for n in "abc"], 7)
    category.learn(entry[:, None])
    columns.learn(spread)
    torch.testing.assert_close(category(entry[:, None]).inputs, columns(spread).inputs)


def test_plain_columns_are_standardised_by_the_labeled_rows_and_reach_far() -> None:
    rows = torch.tensor([[1.0, 5.0], [3.0, 5.0], [NAN, 5.0], [100.0, 7.0], [-50.0, 3.0]])
    columns = [{"name": "a", "kind": "real", "missing": True}, {"name": "b", "kind": "real"}]
    views = TableViews(columns, 5, plain=True)
    views.learn(rows, torch.tensor([True, True, True, False, False]))
    few = views(torch.tensor([[1.0, 5.0], [22.0, 7.0], [1e9, 5.0]]))
    assert few.inputs.shape == (3, views.inputs + 2)
    plain = few.inputs[:, views.inputs :]
    torch.testing.assert_close(plain[:, 0], torch.tensor([-1.0, 20.0, 30.0]))  # mean 2, deviation 1
    spread = math.sqrt(8 / 5)  # of all rows, since the labeled ones are all alike
    torch.testing.assert_close(plain[:, 1], torch.tensor([0.0, 2 / spread, 0.0]))
    hole = views(torch.tensor([[NAN, 5.0]]))
    filled = hole.columns[STANDARD, 0, 0] * views.scales[STANDARD, 0] + views.means[STANDARD, 0]
    torch.testing.assert_close(hole.inputs[0, views.inputs], filled - 2)


# ---- missing values ---------------------------------------------------------------------------------------


def rows_with_holes() -> torch.Tensor:
    draw = torch.Generator().manual_seed(0)
    code = torch.randn(400, 2, generator=draw)
    x = code @ torch.randn(2, 6, generator=draw) + 0.2 * torch.randn(400, 6, generator=draw)
    x = (x - x.mean(0)) / x.std(0)
    return torch.where(torch.rand(400, 6, generator=draw) < 0.2, NAN, x)


def test_a_fill_is_the_conditional_mean() -> None:
    x, fill = rows_with_holes(), TableFill(6)
    fill.learn(x)
    covariance = (fill.loadings @ fill.loadings.T + fill.noise.diag()).double()
    for row, filled in zip(x[:20], fill(x[:20]), strict=True):
        seen = ~row.isnan()
        if seen.all() or not seen.any():
            continue
        inner = torch.linalg.inv(covariance[seen][:, seen])
        expected = covariance[~seen][:, seen] @ inner @ row[seen].double()
        torch.testing.assert_close(filled[~seen].double(), expected, atol=1e-4, rtol=1e-4)
        assert torch.equal(filled[seen], row[seen])


def test_it_beats_the_mean() -> None:
    whole = rows_with_holes()
    fill = TableFill(6)
    fill.learn(whole)
    rows = whole[~whole.isnan().any(1)]
    hidden = rows.clone()
    hidden[:, 2] = NAN
    assert (fill(hidden)[:, 2] - rows[:, 2]).square().mean() < 0.3 * rows[:, 2].square().mean()


def test_a_row_of_holes_alone_is_the_mean() -> None:
    fill = TableFill(6)
    fill.learn(rows_with_holes())
    assert fill(torch.full((1, 6), NAN)).abs().max() == 0
