"""Elimination of sites: against the sum over all their values."""

from __future__ import annotations

import torch

from unknot.core.axes import Axis
from unknot.core.elimination import Elimination, Factor


def test_a_loop_of_three_sites_is_the_sum_over_all_values() -> None:
    a, b, c = (Axis(name, slot, size, 4) for slot, (name, size) in enumerate([("a", 2), ("b", 3), ("c", 2)]))
    tables = {axes: torch.randn(*(axis.size for axis in axes), 1, 2) for axes in ((a, b), (b, c), (a, c))}
    term = torch.randn(2, 1, 2)
    total = tables[a, b][:, :, None] + tables[b, c][None] + tables[a, c][:, None]  # (a, b, c, 1, B)
    weight = total.flatten(0, 2).softmax(0).unflatten(0, (2, 3, 2))
    work = Elimination([Factor(*pair) for pair in tables.items()], {"f": [Factor((c,), term)]}).run()
    torch.testing.assert_close(work.log_total(), total.flatten(0, 2).logsumexp(0))
    torch.testing.assert_close(work.means()["f"], (weight * term).sum((0, 1, 2)))
