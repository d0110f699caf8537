"""``--ray`` with and without an address, wherever it stands."""

from __future__ import annotations

import pytest

from unknot.cli.ray_option import with_address


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("sweep a.yaml --ray", "sweep a.yaml --ray auto"),
        ("sweep --ray a.yaml b.npz", "sweep --ray auto a.yaml b.npz"),
        ("sweep a.yaml --ray --seeds 5", "sweep a.yaml --ray auto --seeds 5"),
        ("sweep a.yaml --ray ray://10.0.0.1:10001 b.npz", "sweep a.yaml --ray ray://10.0.0.1:10001 b.npz"),
        ("sweep x --ray local", "sweep x --ray local"),
        ("sweep x --ray=10.0.0.1:6379", "sweep x --ray=10.0.0.1:6379"),
        ("fit a.yaml", "fit a.yaml"),
    ],
)
def test_an_address_is_put_in_where_none_follows(given: str, read: str) -> None:
    assert with_address(given.split()) == read.split()
