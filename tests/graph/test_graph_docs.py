"""The pictures of docs/graphs.md are what the programs give today."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import unknot
from experiments.canvases.model.finder import LOOKS
from tests.experiments.canvases.model.test_canvas import labels, made
from tests.graph.graph_programs import (
    B,
    Decoder,
    Encoder,
    data,
    digits_decoder,
    digits_encoder,
    faces_decoder,
    faces_encoder,
)
from unknot.graph import Graph

DOCS = Path(__file__).parents[2] / "docs"
CLASSES = unknot.partial(torch.arange(B), torch.tensor([True, False, False, True]))
LIGHTING = unknot.partial(torch.ones(B, 3), CLASSES.known)


def pictures() -> dict[str, Graph]:
    canvases = torch.rand(4, 1, 20, 20)
    known = {**labels(), "digit_3": labels()["digit_2"], "place_3": labels()["place_2"]}
    found = {
        "class_and_style": unknot.graph(Encoder(), Decoder(), data(), y_values=CLASSES),
        "faces": unknot.graph(faces_encoder, faces_decoder, data(), i=CLASSES, l=LIGHTING),
        "multi_digit": unknot.graph(digits_encoder, digits_decoder, data(), K=CLASSES),
    }
    for looks in LOOKS:
        model = made(looks)
        found[f"canvas_{looks}"] = unknot.graph(model.encode, model.decode, canvases, labels=known)
    return found


@pytest.mark.parametrize(
    "name", ["class_and_style", "faces", "multi_digit", *(f"canvas_{name}" for name in LOOKS)]
)
def test_pictures_are_up_to_date(name: str) -> None:
    """To renew them: ``python -m tests.graph.test_graph_docs``."""
    assert (DOCS / "images" / f"graph_{name}.svg").read_text() == pictures()[name].svg()


if __name__ == "__main__":
    for name, graph in pictures().items():
        (DOCS / "images" / f"graph_{name}.svg").write_text(graph.svg())
