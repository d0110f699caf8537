"""What the README shows runs, and what it says of HFVAE is so."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

import unknot
from unknot.errors import UnknotError

README = (Path(__file__).parent.parent / "README.md").read_text()
OWN_DATA, NEW_MODEL = re.findall(r"```python\n(.*?)```", README, flags=re.S)


def test_the_ten_lines_for_own_data(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    images, labels = load_digits(return_X_y=True)
    names = {"images": images[:200] / 16, "labels": labels[:200].copy(), "new_images": images[200:203] / 16}
    names["labels"][50:] = -1
    assert "steps=2000" in OWN_DATA
    exec(OWN_DATA.replace("steps=2000", "steps=2, verbose=False"), names)
    assert names["vae"].vary(names["new_images"], digit=range(10)).shape == (3, 10, 64)
    assert np.array_equal(
        unknot.StructuredVAE.load("model").predict(names["new_images"]),
        names["vae"].predict(names["new_images"]),
    )


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.x = nn.Linear(12, 20)

    def forward(self, x, q):
        p = unknot.Trace()
        y = p.concrete(torch.zeros(10), 0.66, value=q["y"], name="y")
        z = p.normal(torch.zeros(2), torch.ones(2), value=q["z"], name="z")
        p.bernoulli(logits=self.x(unknot.cat([y, z])), value=x, name="x")
        return p


def encoder_of(names: dict) -> nn.Module:
    encoder = names["Encoder"]()
    encoder.h, encoder.y_log_weights, encoder.z_weights = nn.Linear(20, 8), nn.Linear(8, 10), nn.Linear(18, 4)

    def z(inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        loc, raw = encoder.z_weights(inputs).chunk(2, -1)
        return loc, raw.exp()

    encoder.z = z
    return encoder


def test_the_program_for_a_new_model() -> None:
    program, use = NEW_MODEL.split("\n\n", 1)
    names: dict = {"nn": nn, "unknot": unknot}
    exec(program, names)
    labels = torch.arange(12) % 10
    labels[6:] = -1
    names |= {"encoder": encoder_of(names), "decoder": Decoder(), "x": torch.rand(12, 20), "labels": labels}
    exec(use, names)
    assert names["encoder"].h.weight.grad is not None
    terms = unknot.objectives.hfvae(names["q"], names["p"], dataset_size=60000, beta=4.0)
    assert torch.isfinite(terms.loss)
    with pytest.raises(UnknotError, match="'z' depends on y"):
        unknot.objectives.hfvae(names["q"], names["p"], dataset_size=60000, independent=True)
