"""Classes by name: ours, a module's, a file's, and what is refused in which words."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.models.digits import NODES
from unknot.errors import SpecError
from unknot.models.by_name import Named, find_class, run_file
from unknot.models.graphical_model import GraphicalModel
from unknot.models.networks import Trunk
from unknot.models.networks.conv import ImageTrunk
from unknot.models.networks.mlp import VectorTrunk
from unknot.models.networks.registry import DECODERS, HEADS, TRUNKS
from unknot.models.spec import read_spec

FILE = """
import math
from torch import nn
from unknot.models.networks import Trunk
from unknot.schema import whole

class Mean(Trunk):
    OPTIONS = {"times": whole(1)}

    def __init__(self, shape, times=1):
        super().__init__(times)
        self.times = times

    def forward(self, x):
        return x.flatten(1).mean(1, keepdim=True).expand(-1, self.times)
"""


def described(encoder: object) -> dict:
    return {"nodes": {**NODES, "x": {**NODES["x"], "encoder": encoder}}}


def test_every_name_of_ours_is_a_class() -> None:
    from unknot.models.networks import Decoder, Head

    for known, base in ((TRUNKS, Trunk), (HEADS, Head), (DECODERS, Decoder)):
        for name in known:
            assert issubclass(find_class(name, known, base, "here"), base)


def test_a_module_s_class_and_a_file_s(tmp_path: Path) -> None:
    found = find_class("unknot.models.networks.conv:ImageTrunk", TRUNKS, Trunk, "here")
    assert found is ImageTrunk
    file = tmp_path / "mean.py"
    file.write_text(FILE)
    model = GraphicalModel(described({"name": f"{file}:Mean", "times": 3}), (1, 8, 8))
    assert model.trunk.features == 3
    x = torch.rand(5, 1, 8, 8)
    torch.testing.assert_close(model.trunk(x)[:, 2], x.mean((1, 2, 3)))
    assert model.encode(x)["style"].value.shape == (5, 3)


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (
            "konv",
            "model.nodes.x.encoder: unknown name 'konv'; did you mean 'conv'? There are: mlp, conv, parts.",
        ),
        ({"name": "conv", "chanels": [4]}, "'conv' has no option 'chanels'; did you mean 'channels'?"),
        ({"name": "conv", "channels": []}, "model.nodes.x.encoder.channels is a list of layers"),
        ("unknot.models.networks.conv:Image", "did you mean 'ImageTrunk'?"),
        ("unknot.models.networks.conv:LeadingAxes", "has no class 'LeadingAxes' derived from"),
        ("no.such.module:Thing", "cannot import no.such.module"),
        ("absent.py:Thing", "cannot read the program absent.py"),
    ],
)
def test_what_is_not_there_is_refused_in_one_sentence(encoder: object, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_spec(described(encoder))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_fails_is_refused_and_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("1 / 0\n")
    for _ in range(2):
        with pytest.raises(SpecError, match=r"broken.py fails: ZeroDivisionError"):
            run_file(file, "model")


def test_plain_names_and_options_come_back_as_they_were() -> None:
    for plain in ("mlp", {"name": "mlp", "hidden": [3]}):
        assert Named.read(plain).to_plain() == plain
    assert VectorTrunk.OPTIONS.keys() == {"hidden"}
