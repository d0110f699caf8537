"""Toy faces: matt, bumpy balls of their own under lights from the front, for trying out what is meant for faces."""

from __future__ import annotations

import torch
from torch.nn.functional import interpolate, normalize

from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.sets.yale_b import split_by_image

_SIDE = (24, 20)


def toy_faces(people: int, lights: int, seed: int) -> Dataset:
    """``people`` x ``lights`` gray images; factors ``identity`` and ``light``, split by image as Yale B is."""
    generator = torch.Generator().manual_seed(seed)
    height, width = _SIDE
    bumps = torch.randn(
        people, 2, 6, 5, generator=generator
    )  # slopes of the surface, and how dark the skin is
    bumps = interpolate(bumps, size=_SIDE, mode="bilinear")
    down, across = torch.meshgrid(torch.linspace(1, -1, height), torch.linspace(-1, 1, width), indexing="ij")
    ball = torch.stack(
        [across, down, (2.0 - across**2 - down**2).clamp_min(0.05)]
    )  # (3, H, W), pointing outwards
    normals = normalize(ball + 0.3 * torch.cat([bumps, torch.zeros(people, 1, *_SIDE)], 1), dim=1)
    light = normalize(torch.randn(lights, 3, generator=generator) + torch.tensor([0.0, 0.0, 2.0]), dim=-1)
    shade = torch.einsum("pchw,lc->plhw", normals, light).clamp_min(0)  # Lambert's law
    x = (255 * shade * (0.7 + 0.2 * bumps[:, :1].tanh())).clamp(0, 255).byte().flatten(0, 1)[:, None]
    identity = torch.arange(people).repeat_interleave(lights)
    factors = (
        Factor("identity", "categorical", identity, tuple(str(k) for k in range(people))),
        Factor("light", "continuous", light.repeat(people, 1)),
    )
    splits = split_by_image(identity, seed, 0.2)
    return Dataset("toy-faces", x, torch.arange(len(x)), {f.name: f for f in factors}, splits)
