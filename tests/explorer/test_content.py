"""What the page shows, against the model."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from tests.explorer.models import digits, exported, items
from unknot.explorer.content import Block, describe


@pytest.mark.parametrize(
    "values", [np.array([[0.0, 1.0, 128 / 255]]), np.array([[3.0, 200.0]]), np.array([[0.1, -2.0], [np.nan, 5]])]
)  # fmt: skip
def test_arrays_come_back_as_they_were(values: np.ndarray) -> None:
    block = Block(bytearray(b"ab\0\0"))
    at = block.put(values.astype(np.float32))
    kind = np.uint8 if at["kind"] == "byte" else np.float32
    found = np.frombuffer(bytes(block.content), kind, count=values.size, offset=at["start"])
    back = (found.astype(np.float32) / np.float32(at["scale"])).reshape(at["shape"])
    np.testing.assert_array_equal(back, values.astype(np.float32))
    assert len(block.content) % 4 == 0


def test_variables_ranges_and_items() -> None:
    model, graphs = exported("digits")
    x, block = items("digits", 40), Block(bytearray())
    data = digits()._labeled(x.numpy(), None, {"digit": np.arange(40) % 10})
    made = describe(model, graphs, data, None, block)
    json.dumps(made, allow_nan=False)
    digit, style = made["sites"]
    assert (digit["kind"], digit["classes"], digit["python"][3]) == ("classes", [*map(str, range(10))], "3")
    assert made["items"]["labels"]["digit"][:3] == ["0", "1", "2"]
    values = model.predict(x).values["style"]
    for d, dimension in enumerate(style["dimensions"]):
        assert dimension["least"] <= dimension["low"] <= values[:, d].median() <= dimension["high"]
        assert dimension["nats"] is not None
    at = made["items"]["predictions"]["digit"]["probabilities"]
    found = np.frombuffer(bytes(block.content), np.float32, count=400, offset=at["start"]).reshape(40, 10)
    np.testing.assert_allclose(found, model.predict(x).predictions["digit"], atol=1e-6)


def test_without_data_the_model_makes_the_items() -> None:
    model, graphs = exported("digits")
    state = torch.get_rng_state()
    made = describe(model, graphs, None, None, Block(bytearray()))
    assert made["items"]["generated"]
    assert made["items"]["labels"] == {}
    assert torch.equal(state, torch.get_rng_state())
