"""The claim of independence is checked against the program, in every mode."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import unknot
from unknot.errors import SpecError
from unknot.objectives.marginal.encoder_parents import with_programs


def encoder(x: Tensor) -> unknot.Trace:
    q = unknot.Trace()
    y = q.one_hot_categorical(logits=x, name="y")
    q.normal(y, 1.0, name="z", event_dims=1)
    return q


def test_a_false_claim_is_refused_without_gradients_too() -> None:
    with torch.no_grad():
        q = unknot.trace(encoder, torch.zeros(4, 3))
        with pytest.raises(SpecError, match="'z' depends on y"):
            with_programs(q, None, {"independent": True})
        with pytest.raises(SpecError, match="does not show whether"):
            with_programs(encoder(torch.zeros(4, 3)), None, {"independent": True})
        with pytest.raises(SpecError, match="'z' depends on y in the encoder, which parents= leaves out"):
            with_programs(q, None, {"parents": {"y": [], "z": []}})
        assert with_programs(q, None, {"parents": {"z": ["y"]}})["parents"] == {"z": ["y"]}
