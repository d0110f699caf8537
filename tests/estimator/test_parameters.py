"""Constructor arguments as plain data."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest

from unknot import StructuredVAE
from unknot.errors import SpecError
from unknot.estimator.parameters import plain_parameters


def test_arguments_come_back_from_json() -> None:
    rate = {"name": "cosine", "start": 1e-3}
    vae = StructuredVAE(steps=7, kinds=MappingProxyType({"a": "count"}), learning_rate=rate)
    plain = json.loads(json.dumps(plain_parameters(vae)))
    assert plain == {**StructuredVAE().get_params(), "steps": 7, "kinds": {"a": "count"},
                     "learning_rate": rate}  # fmt: skip


def test_what_is_not_plain_is_named() -> None:
    with pytest.raises(SpecError, match=r"a StructuredVAE with objective=.* cannot be saved"):
        plain_parameters(StructuredVAE(objective=lambda q, p: None))
