"""Ctrl-C asks once and insists the second time; afterwards signals are as before."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from unknot.train.processes import Interrupts


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_noted_and_the_second_ctrl_c_interrupts(which: signal.Signals) -> None:
    before = signal.getsignal(which)
    with Interrupts() as interrupts:
        assert not interrupts.requested
        os.kill(os.getpid(), which)
        assert interrupts.requested
        if which == signal.SIGTERM:
            signal.raise_signal(which)  # however often: it stays polite
        else:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(which)
    assert signal.getsignal(which) is before


def test_other_threads_leave_signals_alone() -> None:
    seen = []

    def enter() -> None:
        with Interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
