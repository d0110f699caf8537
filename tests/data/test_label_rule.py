"""The parts of drawing a budget, against slow and obvious versions."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.label_rule import balanced, rank_in_class, rows_of_ids, shuffled


@given(st.lists(st.integers(0, 4), max_size=30))
def test_rank_in_class_counts_earlier_equals(labels):
    slow = [labels[:i].count(label) for i, label in enumerate(labels)]
    assert rank_in_class(torch.tensor(labels, dtype=torch.int64)).tolist() == slow


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.data())
def test_balanced_deals_out_like_taking_turns(labels, data):
    number = data.draw(st.integers(0, len(labels)))
    order = torch.tensor(data.draw(st.permutations(range(len(labels)))))
    factor = Factor("f", "categorical", torch.tensor(labels), tuple("abcd"))
    piles = {c: [int(r) for r in order if labels[int(r)] == c] for c in range(4)}
    slow: list[int] = []
    while len(slow) < number:
        for pile in piles.values():
            if pile and len(slow) < number:
                slow.append(pile.pop(0))
    assert balanced(factor, order, number).tolist() == slow


def test_shuffled_is_even():
    """Every row comes first equally often: 2000 draws of 10 rows, within 5 standard errors."""
    data = Dataset("d", torch.zeros(10, 1), torch.arange(10))
    mask = torch.ones(10, dtype=torch.bool)
    first = torch.stack([shuffled(data, mask, f"key {i}")[0] for i in range(2000)]).bincount(minlength=10)
    assert (first - 200).abs().max() < 5 * (2000 * 0.1 * 0.9) ** 0.5


def test_rows_of_ids_finds_items_in_any_order():
    data = Dataset("d", torch.zeros(4, 1), torch.tensor([30, 10, 40, 20]))
    assert rows_of_ids(data, [40, 10], "f").tolist() == [1, 2]
    assert rows_of_ids(data, [], "f").tolist() == []
