"""A decoder of an upright template and a pose: the image is the template under an affine map.

A perceptron has to learn every slant and size of every class from the items of that class. With a separate pose the
template is the same for all slants, and its evidence for the class is better (:mod:`experiments.digits.evidence`).
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

POSE = 6  # numbers of a pose: a 2 x 2 matrix and a shift
_MATRIX, _SHIFT = 0.25, 0.12  # scale of one unit of a pose, as a share of half an image


class PosedDecoder(Decoder):
    """``x(u) = template(A u + b)`` at every place u, with A = 1 + 0.25 · (t1 t2; t3 t4) and b = 0.12 · (t5, t6).

    The pose t are the last six numbers of the code. Outside the template its border is repeated.

    Parameters
    ----------
    template : Module
        A network from the values of the other parents ``(..., D)`` to images ``(..., C, H, W)``.
    shape : Size
        Shape of an image.

    Examples
    --------
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
                "a posed decoder is for images (C, H, W) with two parents or more, the last of them the pose, a "
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
    """Return the matrices ``(N, 2, 3)`` of poses ``(N, 6)``."""
    matrix = torch.eye(2, dtype=pose.dtype, device=pose.device) + _MATRIX * pose[:, :4].reshape(-1, 2, 2)
    return torch.cat([matrix, _SHIFT * pose[:, 4:].unsqueeze(-1)], -1)
