"""Sprites: means of blocks against a loop, and toys whose pixels say their factors."""

from __future__ import annotations

import torch

from experiments.sprites.sprites import averaged, toy_sprites


def test_means_of_blocks_are_what_a_loop_finds():
    images = (torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(0)) > 0.5).float()
    found = averaged(images, 2)
    for n in range(3):
        for i in range(4):
            for j in range(4):
                cells = [float(images[n, 0, 2 * i + a, 2 * j + b]) for a in (0, 1) for b in (0, 1)]
                assert int(found[n, 0, i, j]) == round(255 * sum(cells) / 4)


def test_a_toy_lies_where_its_factors_say():
    data = toy_sprites(50)
    for row in range(50):
        image = data.x[row, 0]
        down, across = image.nonzero().T
        assert round(float(across.float().mean())) == 5 + int(data.factors["posX"].values[row])
        assert round(float(down.float().mean())) == 5 + int(data.factors["posY"].values[row])
        if int(data.factors["shape"].values[row]) == 0:
            assert len(down) == (2 * (1 + int(data.factors["scale"].values[row])) + 1) ** 2
    assert {name: len(rows) for name, rows in data.splits.items()} == {"train": 45, "test": 5}
