"""γ, ρ and drawing labeled items more often."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unknot.errors import SpecError
from unknot.objectives import supervision_rate, supervision_weight

COUNTS = st.integers(min_value=1, max_value=10**6)


@given(st.floats(min_value=0.0, max_value=1e4), COUNTS, COUNTS)
def test_weight_and_rate_are_inverse(gamma: float, labeled: int, unlabeled: int) -> None:
    rate = supervision_rate(gamma, labeled, unlabeled)
    assert 0 <= rate < 1
    # 1 - rate loses digits as the rate nears one
    assert supervision_weight(rate, labeled, unlabeled) == pytest.approx(
        gamma, rel=1e-9 / (1 - rate), abs=1e-9
    )


def test_rates_of_the_paper() -> None:
    """S17 Fig. 3 starts at γ = 1: M / (N + M)."""
    assert supervision_rate(1.0, 100, 49_900) == pytest.approx(0.002)
    assert supervision_rate(1.0, 3000, 47_000) == pytest.approx(0.06)
    assert supervision_rate(1.0, 5, 0) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: supervision_rate(-1.0, 1, 1), "at least 0"),
        (lambda: supervision_rate(float("inf"), 1, 1), "finite"),
        (lambda: supervision_rate(0.0, 5, 0), "leaves nothing"),
        (lambda: supervision_rate(1.0, 0, 0), "not both zero"),
        (lambda: supervision_weight(1.0, 5, 5), "below 1"),
        (lambda: supervision_weight(0.5, 0, 5), "needs labeled items"),
    ],
)
def test_refuses_what_has_no_meaning(call, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        call()
