"""Partial observation: who is known, and what becomes of the values."""

import numpy as np
import pytest
import torch

import unknot
from unknot.errors import TraceError


def test_minus_one_and_nan_mark_the_unknown() -> None:
    assert unknot.partial(torch.tensor([3, -1, 0])).known.tolist() == [True, False, True]
    assert unknot.partial(torch.tensor([0.5, float("nan")])).known.tolist() == [True, False]
    rows = unknot.partial(torch.tensor([[0.1, float("nan")], [0.1, 0.2]]))
    assert rows.known.tolist() == [False, True]


@pytest.mark.parametrize("values", [[3, -1], np.array([3, -1]), torch.tensor([3, -1], dtype=torch.int32)])
def test_values_come_as_lists_arrays_and_tensors(values) -> None:
    assert unknot.partial(values).known.tolist() == [True, False]
    assert unknot.partial(values, known=[False, True]).known.tolist() == [False, True]


def test_a_mask_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(TraceError, match=r"need known of shape \(3,\), but got \(2,\)"):
        unknot.partial(torch.zeros(3, 2), known=[True, False])


@pytest.mark.parametrize("values", [["cat", "dog"], [1, None, 2], "cat", [[1, 2], [3]]])
def test_what_are_no_numbers_is_refused_with_what_marks_the_unknown(values: object) -> None:
    with pytest.raises(
        TraceError, match=r"takes numbers, .* -1 is an unknown class and NaN an unknown number; got"
    ):
        unknot.partial(values)


def test_a_single_number_is_refused() -> None:
    with pytest.raises(TraceError, match="one value per item"):
        unknot.partial(3)


def test_the_value_is_the_label_where_known_and_a_draw_elsewhere() -> None:
    values = torch.tensor([[1.0, 2.0], [float("nan"), 0.0]])
    q = unknot.Trace(samples=4)
    loc = torch.zeros(2, 2, requires_grad=True)
    z = q.normal(loc, 1.0, value=unknot.partial(values), name="z")
    assert z.shape == (4, 2, 2)
    assert torch.equal(z[:, 0], values[0].expand(4, 2))
    assert len(set(z[:, 1, 0].tolist())) == 4
    z.sum().backward()
    assert loc.grad is not None
    assert loc.grad.tolist() == [[0.0, 0.0], [4.0, 4.0]]  # labels carry no gradient


def test_hidden_values_are_never_used() -> None:
    """Whatever stands where nothing is known, the result is the same, bit for bit."""
    known = torch.tensor([True, False, True])
    results = []
    for hidden in (0, 2, -7, 99):
        torch.manual_seed(3)
        labels = torch.tensor([1, hidden, 0])
        q = unknot.Trace()
        y = q.concrete(torch.ones(3, 3), 0.5, value=unknot.partial(labels, known), name="y")
        k = q.categorical(logits=torch.ones(3, 3), value=unknot.partial(labels, known), name="k")
        e = q.categorical(
            logits=torch.ones(3, 3), value=unknot.partial(labels, known), name="e", gradient="enumerate"
        )
        results.append((y, k, e, q.log_prob(), q["e"].weight))
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (torch.zeros(4, 1), r"labels of shape \(4, 1\) do not fit draws of shape \(4, 3\)"),
        (torch.zeros(4), "with 2 axes was expected"),
        (torch.zeros(5, 3), r"labels have shape \(5, 3\)"),
    ],
)
def test_labels_of_another_shape_are_refused(values, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        unknot.Trace().normal(torch.zeros(4, 3), 1.0, value=unknot.partial(values), name="z")


def test_labels_for_another_number_of_items_are_refused() -> None:
    with pytest.raises(TraceError, match=r"leading axes \(4,\) do not fit those of its labels .* \(5,\)"):
        unknot.Trace().concrete(
            torch.zeros(4, 3), 0.5, value=unknot.partial(torch.tensor([0, 1, 2, 0, -1])), name="y"
        )


def test_each_item_knows_its_own_sites() -> None:
    """Item 0 knows its digit, item 1 its lighting, item 2 nothing, in one batch."""
    q = unknot.Trace()
    q.concrete(torch.zeros(3, 10), 0.66, value=unknot.partial([7, -1, -1]), name="digit")
    q.normal(torch.zeros(3), 1.0, value=unknot.partial([float("nan"), 0.5, float("nan")]), name="light")
    assert q["digit"].known.tolist() == [True, False, False]
    assert q["light"].known.tolist() == [False, True, False]
    assert q["light"].value[1] == 0.5
