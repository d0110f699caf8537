"""One function over many items: in this process, in several, or refused without Ray."""

from __future__ import annotations

import importlib.util

import pytest

from tests.parallel.work import half
from unknot.errors import SpecError
from unknot.parallel.processes import run_all


def test_one_worker_is_this_process_and_goes_on_after_a_failure() -> None:
    seen = []

    def work(item: int) -> int:
        seen.append(item)
        return half(item)

    made = dict(run_all(work, [2, 3, 4]))
    assert seen == [2, 3, 4]
    assert (made[2], str(made[3]), made[4]) == (1, "3 is odd", 2)


def test_an_interrupt_ends_all() -> None:
    def work(item: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_all(work, [1, 2]))


def test_without_ray_its_option_says_what_to_install() -> None:
    if importlib.util.find_spec("ray"):
        pytest.skip("Ray is installed here")
    with pytest.raises(SpecError, match=r"pip install 'unknot\[sweep\]'"):
        list(run_all(half, [2], ray="auto"))
