"""Information by dimension: a code that follows the data, and one that ignores it."""

from __future__ import annotations

import numpy as np
import torch

from tests.workflow.models import like
from unknot.data.from_arrays import from_arrays
from unknot.models import node
from unknot.workflow.codes import style_information

DATA = from_arrays(np.random.default_rng(0).normal(size=(200, 3)))


def test_dimensions_come_with_their_nats_the_most_informative_first() -> None:
    torch.manual_seed(0)
    model = like(
        [node("style", "normal", 3, inferred_from=["x"]), node("x", "normal", parents=["style"])], DATA
    )
    found = style_information(model, DATA, 200)
    assert sorted(name for name, _ in found) == ["style[0]", "style[1]", "style[2]"]
    nats = [n for _, n in found]
    assert nats == sorted(nats, reverse=True)
    assert found == style_information(model, DATA, 200)  # the same twice


def test_a_code_that_ignores_the_data_holds_nothing() -> None:
    torch.manual_seed(0)
    model = like(
        [node("style", "normal", 2, inferred_from=["x"]), node("x", "normal", parents=["style"])], DATA
    )
    with torch.no_grad():
        for name, weights in model.module.named_parameters():
            if "recogni" in name or "encod" in name:
                weights.zero_()
    assert all(abs(n) < 1e-5 for _, n in style_information(model, DATA, 200))
