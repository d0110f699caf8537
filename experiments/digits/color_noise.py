"""A normal likelihood of color images with different standard deviations of brightness and color.

The pixels of photographs differ mostly in brightness. With the same noise in red, green and blue an error of the hue
costs little, and a decoder of a small code predicts gray. Here the error d = x - μ of a pixel is split into its mean
over the C channels, along the gray axis, and the rest, orthogonal to it,

    log p(x) = Σ_pixels  -½ [ C d̄² / σ²  +  Σ_c (d_c - d̄)² / τ² ]  -  log σ  -  (C - 1) log τ  -  C/2 log 2π,

the normal density with standard deviation σ along the gray axis and τ across it. The change of axes is a rotation, so
this is a density of red, green and blue; with τ = σ it is the usual one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Size, Tensor
from torch.distributions import Distribution, constraints

from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.likelihoods.normal import NormalLikelihood
from unknot.models.node_spec import NodeSpec
from unknot.schema import Schema, number


class ColorNormal(Distribution):
    """Normal distribution of images ``(C, H, W)`` with one standard deviation of brightness and one of color.

    Parameters
    ----------
    loc : Tensor
        Means ``(..., C, H, W)``.
    scale, color_scale : Tensor
        Standard deviations σ of brightness and τ of color, ``()``.

    Examples
    --------
    >>> gray, red = torch.full((3, 1, 1), 0.1), torch.tensor([0.1, 0.0, 0.0]).view(3, 1, 1)
    >>> noise = ColorNormal(torch.zeros(3, 1, 1), torch.tensor(0.2), torch.tensor(0.05))
    >>> bool(noise.log_prob(red) < noise.log_prob(gray))  # though it is the smaller error
    True
    """

    arg_constraints = {  # noqa: RUF012 (torch declares it so)
        "loc": constraints.independent(constraints.real, 3),
        "scale": constraints.positive,
        "color_scale": constraints.positive,
    }
    support = constraints.independent(constraints.real, 3)
    has_rsample = True

    def __init__(self, loc: Tensor, scale: Tensor, color_scale: Tensor) -> None:
        self.loc, self.scale, self.color_scale = loc, scale, color_scale
        super().__init__(loc.shape[:-3], loc.shape[-3:], validate_args=False)

    def expand(self, batch_shape: Any, _instance: Any = None) -> ColorNormal:
        return ColorNormal(self.loc.expand(*batch_shape, *self.event_shape), self.scale, self.color_scale)

    @property
    def mean(self) -> Tensor:
        return self.loc

    def log_prob(self, value: Tensor) -> Tensor:
        error = value - self.loc
        channels, height, width = self.event_shape
        gray = error.mean(-3, keepdim=True)  # (..., 1, H, W)
        squares = channels * (gray / self.scale).square().sum((-3, -2, -1))
        squares = squares + ((error - gray) / self.color_scale).square().sum((-3, -2, -1))
        logs = self.scale.log() + (channels - 1) * self.color_scale.log()
        return -0.5 * squares - height * width * (logs + channels / 2 * math.log(2 * math.pi))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = Size(sample_shape) + self.loc.shape
        noise = torch.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        gray = noise.mean(-3, keepdim=True)
        return self.loc + self.scale * gray + self.color_scale * (noise - gray)


class ColorNormalLikelihood(NormalLikelihood):
    """Likelihood of color images with :class:`ColorNormal`; ``scale`` (of brightness) is learned if it is not given."""

    name = "color_normal"
    OPTIONS: ClassVar[Mapping[str, Schema]] = {**NormalLikelihood.OPTIONS, "color_scale": number(above=0)}

    def __init__(self, spec: NodeSpec, shape: Size, width: int) -> None:
        super().__init__(spec, shape, width)
        if len(shape) != 3:
            raise SpecError(
                f"node '{spec.name}': a color_normal likelihood is for images (C, H, W), but the data is {tuple(shape)}"
            )

    def site(self, trace: Trace, outputs: Tensor, x: Tensor | None, name: str) -> None:
        both = [
            torch.as_tensor(one, device=outputs.device) for one in (self.scale, self.options["color_scale"])
        ]
        trace.variable(ColorNormal(outputs, *both), x, name=name, event_dims=len(self.shape))
