"""A generator that first draws a thing upright and then puts it: the image is a template moved by a pose.

A perceptron that makes pixels has to learn every slant and size of every class by itself, from the items of that class.
With the pose apart, what it learns of one slant holds for all, and the classes are told apart by their shape: such a
generator is the better reader of its own images (:mod:`experiments.digits.evidence`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import torch
from torch import Size, Tensor, nn
from torch.nn.functional import affine_grid, grid_sample

from unknot.core.distributions import without_autocast
from unknot.models.by_name import NAMED, Named
from unknot.models.networks.network import Decoder, Place
from unknot.models.networks.registry import build_decoder
from unknot.schema import Schema

POSE = 6  # numbers of a pose: a matrix of the plane and a shift
_MATRIX, _SHIFT = 0.25, 0.12  # of one unit of a pose, in parts of half an image


class PosedDecoder(Decoder):
    """``x(u) = template(A u + b)`` at every place u, with A = 1 + 0.25 · (t1 t2; t3 t4) and b = 0.12 · (t5, t6).

    Arguments:
        template: a network from the values of the other parents ``(..., D)`` to images ``(..., C, H, W)``.
        shape: of the images.

    The pose t are the last six numbers of the code. Beyond its edge the template goes on as it ends.

    >>> from unknot.models.networks.mlp import VectorDecoder
    >>> shape = Size((1, 8, 8))
    >>> decoder, code = PosedDecoder(VectorDecoder(3, shape, [16]), shape), torch.randn(5, 9)
    >>> code[:, 3:] = 0  # the pose of the template itself
    >>> torch.allclose(decoder(code), decoder.template(code[:, :3]), atol=1e-5)
    True
    """

    OPTIONS: ClassVar[Mapping[str, Schema]] = {"template": NAMED}

    def __init__(self, template: nn.Module, shape: Size) -> None:
        super().__init__()
        self.template, self.shape = template, tuple(shape)

    @classmethod
    def build(cls, place: Place, template: Any = "mlp") -> Self:
        *others, pose = place.parents
        if not others or len(place.shape) != 3 or not pose.gaussian or pose.size != POSE:
            raise place.refuse(
                "a posed decoder makes images (C, H, W) of two parents or more, the last of them their pose, a "
                f"normal node of size {POSE}, but the last is '{pose.spec.name}', {pose.spec.family} of size "
                f"{pose.size}, and data is {tuple(place.shape)}"
            )
        return cls(build_decoder(Named.read(template), replace(place, parents=tuple(others))), place.shape)

    def forward(self, code: Tensor) -> Tensor:
        leading = code.shape[:-1]
        images = self.template(code[..., :-POSE]).reshape(-1, *self.shape)
        pose = code[..., -POSE:].reshape(-1, POSE)
        with without_autocast(code):
            kind = torch.promote_types(images.dtype, torch.float32)
            images, pose = images.to(kind), pose.to(kind)
            grid = affine_grid(_maps(pose), list(images.shape), align_corners=False)
            moved = grid_sample(images, grid, padding_mode="border", align_corners=False)
        return moved.reshape(*leading, *self.shape)


def _maps(pose: Tensor) -> Tensor:
    """The matrices ``(N, 2, 3)`` of poses ``(N, 6)``."""
    matrix = torch.eye(2, dtype=pose.dtype, device=pose.device) + _MATRIX * pose[:, :4].reshape(-1, 2, 2)
    return torch.cat([matrix, _SHIFT * pose[:, 4:].unsqueeze(-1)], -1)
