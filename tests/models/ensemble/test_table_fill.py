"""Holes are filled by the conditional mean of a Gaussian whose covariance is W W' + noise."""

import torch

from unknot.models.ensemble.table_fill import TableFill

NAN = float("nan")


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
