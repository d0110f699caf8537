"""Series: shares and sizes of random convolutions, and the series itself at a coarse resolution."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool1d, conv1d

from unknot.data.dataset import Dataset
from unknot.data.series import is_series
from unknot.models.features.features import Features, register_features
from unknot.models.features.steps import Scales, as_channels, interpolated, lengths_of

_TAPS, _HIGH = 9, 3  # of a kernel, and how many of them are 2 where the others are -1
_DILATIONS = 6  # at most
_QUANTILES = (1 / 3, 2 / 3)  # of a convolution, which are its thresholds
_LEARNED_FROM = 2000  # series that the scales of the features are taken from
_THRESHOLDS_FROM = 64  # series that thresholds are taken from
_COARSE = 128  # steps of the coarse series, divided among the channels
_FEWEST_COARSE = 8
_MOST_CHANNELS = 9  # that a kernel looks at
_BLOCK = 1 << 22  # numbers of a convolution that are computed at once; 16 MB
_FAR = 8.0


@register_features
class Convolutions(Features):
    """Random convolutions of series, pooled over time (after MiniRocket and MultiRocket), and a coarse series.

    Channels are standardized over all items. The 84 kernels have nine taps, of which three are 2 and six -1, so
    that they do not see the level, and up to six dilations. Of several channels each kernel sees the sum of a random
    subset. The convolution c_t of a kernel has the features

        share of t with c_t > b,    mean of max(c_t - b, 0),    for b at its terciles,    and max_t c_t,

    where t runs over the steps of the item: padding at the end is left out, and missing steps are interpolated. The
    kernels do not say when something happens, so the series itself, averaged to a few steps, and its length are
    features too. All features are standardized.

    Parameters
    ----------
    channels : int
        C.
    steps : int
        T.

    References
    ----------
    Dempster, Schmidt and Webb (2021), "MiniRocket"; Tan, Dempster, Bergmeir and Webb (2022), "MultiRocket".
    """

    name: ClassVar[str] = "series"

    def __init__(self, channels: int, steps: int) -> None:
        super().__init__()
        self.channels, self.steps = channels, steps
        self.dilations = _dilations(steps)
        self.coarse = min(steps, max(_FEWEST_COARSE, _COARSE // channels))
        kernels = _kernels()
        generator = torch.Generator().manual_seed(0)
        subsets = [_subsets(len(kernels), channels, generator) for _ in self.dilations]
        weights = torch.stack([subset[:, :, None] * kernels[:, None] for subset in subsets])
        self.register_buffer("weights", weights)  # (dilations, 84, C, 9)
        self.register_buffer("thresholds", torch.zeros(len(self.dilations), len(_QUANTILES), len(kernels)))
        self.register_buffer("center", torch.zeros(channels))
        self.register_buffer("scale", torch.ones(channels))
        self.register_buffer("feature_center", torch.zeros(self.size))
        self.register_buffer("feature_scale", torch.ones(self.size))
        self.weights: Tensor
        self.thresholds: Tensor
        self.center: Tensor
        self.scale: Tensor
        self.feature_center: Tensor
        self.feature_scale: Tensor

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        return isinstance(data.x, Tensor) and is_series(data)

    @classmethod
    @torch.no_grad()
    def for_data(cls, data: Dataset) -> Convolutions:
        x = as_channels(data.x[:].float())  # (N, C, T)
        made = cls(x.shape[1], x.shape[2])
        scales = Scales.learn(x)
        made.center.copy_(scales.center)
        made.scale.copy_(scales.scale)
        generator = torch.Generator().manual_seed(1)
        order = torch.randperm(len(x), generator=generator)
        made._learn_thresholds(x[order[:_THRESHOLDS_FROM]], generator)
        features = made._features(x[order[:_LEARNED_FROM]])
        made.feature_center.copy_(features.mean(0))
        spread = features.std(0, correction=0)
        made.feature_scale.copy_(torch.where(spread > 1e-6, spread, 1.0))
        return made

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"channels": self.channels, "steps": self.steps}

    @property
    def size(self) -> int:
        pooled = len(self.dilations) * self.weights.shape[1] * (2 * len(_QUANTILES) + 1)
        return pooled + self.channels * self.coarse + 1

    def forward(self, x: Tensor) -> Tensor:
        return ((self._features(as_channels(x)) - self.feature_center) / self.feature_scale).clamp(
            -_FAR, _FAR
        )

    def _features(self, x: Tensor) -> Tensor:
        """Return features of series ``(B, C, T)`` before they are standardized."""
        return torch.cat([self._of_block(block) for block in self._blocks(x)])

    def _of_block(self, x: Tensor) -> Tensor:
        values, length = self._prepared(x)
        inside = torch.arange(x.shape[2], device=x.device) < length[:, None]  # (B, T)
        count = length.clamp_min(1)[:, None]
        parts = []
        for made, thresholds in zip(self._convolutions(values), self.thresholds, strict=True):
            for threshold in thresholds:
                above = (made - threshold[:, None]).clamp_min(0) * inside[:, None]  # (B, 84, T)
                parts += [(above > 0).sum(2) / count, above.sum(2) / count]
            parts.append(made.masked_fill(~inside[:, None], -math.inf).amax(2).nan_to_num(neginf=0.0))
        coarse = adaptive_avg_pool1d(values, self.coarse).flatten(1)
        return torch.cat([*parts, coarse, length[:, None] / self.steps], 1)

    def _prepared(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return standardized series ``(B, C, T)``, zero after their end, and their lengths ``(B,)``."""
        length = lengths_of(x)
        values = interpolated(Scales(self.center, self.scale).standard(x)).nan_to_num()
        inside = torch.arange(x.shape[2], device=x.device) < length[:, None, None]
        return values * inside, length

    def _convolutions(self, values: Tensor) -> Iterator[Tensor]:
        """Yield the convolutions of all kernels at each dilation, ``(B, 84, T)``."""
        for dilation, weight in zip(self.dilations, self.weights, strict=True):
            yield conv1d(values, weight, padding=_TAPS // 2 * dilation, dilation=dilation)

    def _learn_thresholds(self, x: Tensor, generator: torch.Generator) -> None:
        """Take the quantiles of each convolution, at random steps within the series."""
        values, length = self._prepared(x)
        inside = (torch.arange(x.shape[2]) < length[:, None]).flatten().nonzero()[:, 0]
        if not len(inside):
            return
        drawn = inside[torch.randint(len(inside), (4096,), generator=generator)]
        quantiles = torch.tensor(_QUANTILES)
        for made, thresholds in zip(self._convolutions(values), self.thresholds, strict=True):
            some = made.transpose(0, 1).flatten(1)[:, drawn]  # (84, draws)
            thresholds.copy_(torch.quantile(some, quantiles, dim=1))

    def _blocks(self, x: Tensor) -> Iterator[Tensor]:
        step = max(1, _BLOCK // (self.weights.shape[1] * x.shape[2]))
        yield from x.split(step)


def _kernels() -> Tensor:
    """Return all kernels of nine taps of which three are 2 and the others -1, ``(84, 9)``."""
    kernels = torch.full((math.comb(_TAPS, _HIGH), _TAPS), -1.0)
    for kernel, high in zip(kernels, combinations(range(_TAPS), _HIGH), strict=True):
        kernel[list(high)] = 2.0
    return kernels


def _dilations(steps: int) -> list[int]:
    """Return dilations from 1 to that with which a kernel is as long as the series.

    >>> _dilations(100), _dilations(5)
    ([1, 2, 5, 12], [1])
    """
    longest = max(1.0, (steps - 1) / (_TAPS - 1))
    count = min(_DILATIONS, int(math.log2(longest)) + 1)
    exponents = torch.linspace(0, math.log2(longest), count).tolist()
    return sorted({int(2**exponent + 1e-6) for exponent in exponents})


def _subsets(count: int, channels: int, generator: torch.Generator) -> Tensor:
    """Return a random subset of the channels for each kernel, ``(count, C)``, of 0 and 1; small ones are common."""
    most = min(channels, _MOST_CHANNELS)
    sizes = (2 ** (torch.rand(count, generator=generator) * math.log2(most + 1))).long().clamp(1, most)
    ranks = torch.rand(count, channels, generator=generator).argsort(1).argsort(1)
    return (ranks < sizes[:, None]).float()
