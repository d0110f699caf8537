"""Tables: missing cells carry nothing, and each kind of column has its own likelihood."""

import pytest
import torch

from unknot.errors import DataError, SpecError
from unknot.models.table import Table
from unknot.models.table_columns import describe_columns

NAN = float("nan")
COLUMNS = (
    {"name": "age", "kind": "real", "mean": 40.0, "sd": 10.0},
    {"name": "ill", "kind": "binary"},
    {"name": "town", "kind": "category", "size": 3},
    {"name": "visits", "kind": "count"},
)


def test_a_missing_cell_changes_neither_likelihood_nor_gradient() -> None:
    table = Table(COLUMNS)
    outputs = torch.randn(2, table.parameters_size, requires_grad=True)
    rows = torch.tensor([[50.0, 1, 2, 4], [NAN, NAN, NAN, NAN]])
    loss = table.negative_log_likelihood(outputs, rows)
    assert loss[1].item() == 0
    loss.sum().backward()
    assert outputs.grad is not None
    assert (outputs.grad[1] == 0).all()
    assert (outputs.grad[0] != 0).any()


def test_the_likelihood_is_the_sum_of_its_columns() -> None:
    table = Table(COLUMNS)
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
    table = Table(COLUMNS)
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
    table, count = Table(COLUMNS), 20_000
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
