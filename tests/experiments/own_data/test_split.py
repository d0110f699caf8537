"""The split of own-data: groups apart, and the drawn sets stay what they were when they were drawn."""

import pytest

from experiments.own_data.split import KINDS, ONCE, SEEN, UNSEEN, groups


@pytest.mark.parametrize("kind", KINDS)
def test_groups_are_apart_and_large_enough(kind: str) -> None:
    tune, once = groups(kind).values()
    assert not set(tune) & set(once)
    assert len(once) == ONCE[kind] >= 6
    assert len(tune) >= 10  # coverage needs ten sets of every kind


@pytest.mark.parametrize("kind", KINDS)
def test_no_set_that_was_looked_at_is_in_once(kind: str) -> None:
    assert set(SEEN[kind]) <= set(groups(kind)["tune"])
    assert not set(SEEN[kind]) & set(UNSEEN[kind])
