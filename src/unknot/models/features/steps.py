"""Steps of series: channels, lengths, missing steps and scales, for features and components alike."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_FAR = 8.0  # standard deviations at which steps are clipped


def as_channels(x: Tensor) -> Tensor:
    """Return series as channels ``(B, C, T)``; series of one channel may be rows ``(B, T)``."""
    return x[:, None] if x.ndim == 2 else x


def lengths_of(x: Tensor) -> Tensor:
    """Return the length of each series ``(B, C, T)``, ``(B,)``: up to the last step that any channel has.

    >>> lengths_of(torch.tensor([[[1.0, torch.nan, 2.0, torch.nan]]])).tolist()
    [3]
    """
    known = ~x.isnan().all(1)  # (B, T)
    return (known * torch.arange(1, x.shape[2] + 1, device=x.device)).amax(1)


def interpolated(x: Tensor) -> Tensor:
    """Return series with missing steps (NaN) interpolated linearly between the known ones of their channel.

    Before the first known step and after the last one its value is repeated; a channel without known steps stays
    missing.

    >>> interpolated(torch.tensor([[[torch.nan, 1.0, torch.nan, 3.0]]])).tolist()
    [[[1.0, 1.0, 2.0, 3.0]]]
    """
    known = ~x.isnan()
    if bool(known.all()):
        return x
    steps = torch.arange(x.shape[-1], device=x.device).expand(x.shape)
    last = x.shape[-1] - 1
    before = torch.where(known, steps, -1).cummax(-1).values  # the last known step until here, or -1
    after = torch.where(known, steps, last + 1).flip(-1).cummin(-1).values.flip(-1)  # the next one, or T
    before, after = torch.where(before < 0, after, before), torch.where(after > last, before, after)
    start = x.gather(-1, before.clamp(0, last))
    end = x.gather(-1, after.clamp(0, last))
    share = (steps - before) / (after - before).clamp_min(1)
    return start + (end - start) * share


@dataclass(frozen=True)
class Scales:
    """Mean and standard deviation of each channel over all known steps, ``(C,)`` both."""

    center: Tensor
    scale: Tensor

    @classmethod
    def learn(cls, x: Tensor) -> Scales:
        """Take them from series ``(N, C, T)``."""
        known = ~x.isnan()
        count = known.sum((0, 2)).clamp_min(1)
        center = x.nan_to_num().sum((0, 2), dtype=torch.float64) / count
        errors = torch.where(known, x - center[:, None].to(x.dtype), 0.0)
        spread = (errors.square().sum((0, 2), dtype=torch.float64) / count).sqrt()
        return cls(center.to(x.dtype), torch.where(spread > 1e-9, spread, 1.0).to(x.dtype))

    def standard(self, x: Tensor) -> Tensor:
        """Return series ``(B, C, T)`` in standard deviations of their channel, clipped to ±8; NaN stays."""
        return ((x - self.center[:, None]) / self.scale[:, None]).clamp(-_FAR, _FAR)

    def in_units(self, x: Tensor) -> Tensor:
        """Return standardized series in the units of the data."""
        return x * self.scale[:, None] + self.center[:, None]
