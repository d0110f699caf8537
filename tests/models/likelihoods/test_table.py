"""Rows of a table: columns that fit, and what is missing."""

from __future__ import annotations

import pytest
import torch
from torch import Size
from torch.distributions import Bernoulli

import unknot
from unknot.errors import DataError, SpecError
from unknot.models import node
from unknot.models.likelihoods.table import Table, TableLikelihood, check_rows, describe_columns

NAN = float("nan")
COLUMNS = [{"name": "a", "kind": "real", "mean": 0.0, "sd": 1.0}, {"name": "b", "kind": "binary"}]


def make(shape: tuple[int, ...], **settings) -> TableLikelihood:
    return TableLikelihood(node("x", {"name": "table", **settings}, parents=["z"]), Size(shape), 16)


def test_tables_need_columns_that_fit() -> None:
    with pytest.raises(SpecError, match="a table needs columns"):
        make((2,))
    with pytest.raises(SpecError, match="2 columns are described, but rows have 3"):
        make((3,), columns=COLUMNS)


def test_what_is_missing_is_not_scored() -> None:
    outputs = torch.randn(4, 3)  # a mean, a width, a logit
    rows = torch.tensor([[float("nan"), 1.0]]).expand(4, 2)
    p = unknot.Trace()
    make((2,), columns=COLUMNS).site(p, outputs, rows, "x")
    expected = Bernoulli(logits=outputs[:, 2]).log_prob(torch.ones(4))
    torch.testing.assert_close(p["x"].log_prob, expected)


# ---- columns ------------------------------------------------------------------------------------------

TABLE = (
    {"name": "age", "kind": "real", "mean": 40.0, "sd": 10.0},
    {"name": "ill", "kind": "binary"},
    {"name": "town", "kind": "category", "size": 3},
    {"name": "visits", "kind": "count"},
)


def test_a_missing_cell_changes_neither_likelihood_nor_gradient() -> None:
    table = Table(TABLE)
    outputs = torch.randn(2, table.parameters_size, requires_grad=True)
    rows = torch.tensor([[50.0, 1, 2, 4], [NAN, NAN, NAN, NAN]])
    loss = table.negative_log_likelihood(outputs, rows)
    assert loss[1].item() == 0
    loss.sum().backward()
    assert outputs.grad is not None
    assert (outputs.grad[1] == 0).all()
    assert (outputs.grad[0] != 0).any()


def test_the_likelihood_is_the_sum_of_its_columns() -> None:
    table = Table(TABLE)
    outputs, row = torch.randn(1, table.parameters_size), torch.tensor([[50.0, 1, 2, 4]])
    whole = table.negative_log_likelihood(outputs, row)
    parts = torch.zeros(1)
    for i in range(4):
        alone = torch.full((1, 4), NAN)
        alone[0, i] = row[0, i]
        parts = parts + table.negative_log_likelihood(outputs, alone)
    torch.testing.assert_close(whole, parts)
    normal = torch.distributions.Normal(outputs[0, 0], torch.nn.functional.softplus(outputs[0, 1]) + 1e-2)
    only_age = torch.tensor([[50.0, NAN, NAN, NAN]])
    torch.testing.assert_close(
        table.negative_log_likelihood(outputs, only_age)[0], -normal.log_prob(torch.tensor(1.0))
    )


def test_features_flag_what_is_missing() -> None:
    table = Table(TABLE)
    features = table(torch.tensor([[50.0, 1, 2, 4], [NAN, 0, NAN, 0]]))
    assert features.shape == (2, table.features)
    assert features[0].tolist()[:5] == [1.0, 1.0, 0.0, 0.0, 1.0]
    assert features[1, -4:].tolist() == [1.0, 0.0, 1.0, 0.0]
    assert features[1, :5].tolist() == [0.0, 0.0, 0.0, 0.0, 0.0]


def test_bad_columns_are_refused() -> None:
    with pytest.raises(SpecError, match="kind is one of"):
        Table([{"name": "a", "kind": "number"}])
    with pytest.raises(SpecError, match="needs a size"):
        Table([{"name": "a", "kind": "category"}])
    with pytest.raises(DataError, match=r"cannot be 0\.5"):
        describe_columns(["count"], torch.tensor([[0.5], [1.0]]))
    with pytest.raises(DataError, match="every entry is missing"):
        describe_columns(["real"], torch.full((3, 1), NAN))


def test_draws_have_the_moments_of_their_columns() -> None:
    table, count = Table(TABLE), 20_000
    outputs = torch.tensor([0.5, 0.2, -1.0, 0.0, 1.0, 2.0, 1.5]).expand(count, -1)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        drawn = table.draw(outputs)
    real, ill, town, visits = drawn.unbind(-1)
    sd = 10 * (torch.nn.functional.softplus(torch.tensor(0.2)) + 1e-2)
    within = 5 / count**0.5  # five standard errors: one test of a million fails by chance
    assert abs(real.mean() - 45) < within * sd
    assert abs(real.std() / sd - 1) < within
    assert abs(ill.mean() - torch.tensor(-1.0).sigmoid()) < within
    shares = torch.bincount(town.long(), minlength=3) / count
    assert (shares - torch.tensor([0.0, 1.0, 2.0]).softmax(0)).abs().max() < within
    rate = torch.nn.functional.softplus(torch.tensor(1.5))
    assert abs(visits.mean() - rate) < within * rate.sqrt()


# ---- columns from the data ------------------------------------------------------------------------------


def test_rows_tell_the_rest() -> None:
    rows = torch.tensor([[1.0, 0.0, 2.0, 5.0], [3.0, 1.0, NAN, 0.0], [NAN, 1.0, 0.0, 1.0]])
    columns = describe_columns(["real", "binary", "category", "count"], rows, ["a", "b", "c", "d"])
    assert columns == (
        {"name": "a", "kind": "real", "mean": 2.0, "sd": 1.0},
        {"name": "b", "kind": "binary"},
        {"name": "c", "kind": "category", "size": 3},
        {"name": "d", "kind": "count"},
    )


def test_a_column_that_never_varies_keeps_its_units() -> None:
    assert describe_columns(["real"], torch.ones(3, 1))[0]["sd"] == 1.0


def test_classes_that_do_not_occur_are_counted() -> None:
    assert describe_columns(["category"], torch.zeros(3, 1), classes=[5])[0]["size"] == 5


@pytest.mark.parametrize(
    ("kinds", "rows", "message"),
    [
        (["real"], [[1.0, 2.0]], "columns names 1 kinds, but rows have shape"),
        (["word"], [[1.0]], "kind is one of real, binary, category, count, but is 'word'"),
        (["real"], [[NAN]], "every entry is missing"),
        (["binary"], [[2.0]], "entries of a binary column cannot be 2"),
        (["count"], [[-1.0]], "entries of a count column cannot be -1"),
        (["category"], [[0.5]], "entries of a category column cannot be 0.5"),
    ],
)
def test_rows_that_do_not_fit_their_kind(kinds: list[str], rows: list, message: str) -> None:
    with pytest.raises(DataError, match=message):
        describe_columns(kinds, torch.tensor(rows))


def test_new_rows_must_fit_the_description() -> None:
    columns = describe_columns(["category"], torch.tensor([[0.0], [1.0]]), ["c"])
    check_rows(columns, torch.tensor([[1.0], [NAN]]))
    with pytest.raises(DataError, match="'c': entries of a category column cannot be 2"):
        check_rows(columns, torch.tensor([[2.0]]))
