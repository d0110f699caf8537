"""Rows: a factor's numbers as a table says them, each with what it is to be compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unknot.metrics.leak import Leak
from unknot.workflow.counterfactuals.judging import LABELS_A_SETTING

if TYPE_CHECKING:
    from unknot.workflow.counterfactuals.counterfactual import Counterfactual, Read


def rows(found: Counterfactual) -> list[tuple[str, str, str]]:
    """What is measured, the number, and what stands beside it."""
    told = [("read as intended by the encoder", *_read(found.encoder))]
    if found.reader is not None:
        share, beside = _read(found.reader)
        told.append(
            ("read as intended by another reader", share, f"{beside}; learned from {found.labels:,} labels")
        )
    else:
        few = f"{found.labels:,} labels to learn from; {LABELS_A_SETTING} a class are needed"
        told.append(("read as intended by another reader", "unknown", few))
    for name, move in found.moves.items():
        beside = f"{move.unchanged:.2f} without a change; 1: another item"
        told.append((f"{name} moves", f"{move.changed:.2f}", beside))
    if found.leak is not None:
        told += _probes(found.factor, " and ".join(found.style), found.leak)
    if found.sharpness is not None:
        beside = f"{found.sharpness.unchanged:.2f} without a change; 1: real items"
        told.append(("sharpness", f"{found.sharpness.changed:.2f}", beside))
    return told


def _read(read: Read) -> tuple[str, str]:
    beside = (
        "no labels of real items"
        if read.real is None
        else f"{100 * read.real:.1f} % of real items read right"
    )
    return f"{100 * read.share:.1f} ± {100 * read.standard_error:.1f} %", beside


def _probes(factor: str, style: str, leak: Leak) -> list[tuple[str, str, str]]:
    errors = {"linear probe": leak.linear, "five neighbors": leak.neighbors, "small network": leak.network}
    beside = f"{100 * leak.chance:.1f} % is chance"
    return [
        (f"{factor} read from {style}, {name}", f"{100 * error:.1f} % error", beside)
        for name, error in errors.items()
    ]
