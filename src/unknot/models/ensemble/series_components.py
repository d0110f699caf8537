"""SeriesComponents: components of series, whose steps are columns."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unknot.models.ensemble.components import Components, blocks
from unknot.models.features.steps import Scales, as_channels, interpolated


class SeriesComponents(nn.Module):
    """The principal components ``(B, K)`` of series ``(B, C, T)`` or, of one channel, rows ``(B, T)``.

    Channels are standardized over all items, missing steps are interpolated, and after its last known step a channel
    keeps its value. Then each step of each channel is a column of :class:`Components`.

    Parameters
    ----------
    channels : int
        C; 0 for rows of one channel.
    steps : int
        T.
    size : int
        K.
    """

    counts = False

    def __init__(self, channels: int, steps: int, size: int) -> None:
        super().__init__()
        self.shape = (channels, steps) if channels else (steps,)
        self.register_buffer("center", torch.zeros(max(channels, 1)))
        self.register_buffer("scale", torch.ones(max(channels, 1)))
        self.center: Tensor
        self.scale: Tensor
        self.columns = Components(max(channels, 1) * steps, size, False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the components ``(B, K)`` of series."""
        rows: Tensor = self.columns(self._flat(x))
        return rows

    def of_all(self, x: Tensor) -> Tensor:
        """Return the components ``(N, K)`` of all items of a data set."""
        return torch.cat([self(some) for some in blocks(x)])

    def inverse(self, components: Tensor) -> Tensor:
        """Return the expected series at components ``(B, K)``, in the units of the data."""
        rows = self.columns.inverse(components).unflatten(1, (len(self.center), -1))
        return self._scales.in_units(rows).reshape(len(rows), *self.shape)

    @torch.no_grad()
    def learn(self, x: Tensor) -> None:
        """Take scales and components from all items."""
        scales = Scales.learn(as_channels(x[:].float()))
        self.center.copy_(scales.center)
        self.scale.copy_(scales.scale)
        self.columns.learn(torch.cat([self._flat(some) for some in blocks(x)]))

    @property
    def _scales(self) -> Scales:
        return Scales(self.center, self.scale)

    def _flat(self, x: Tensor) -> Tensor:
        return interpolated(self._scales.standard(as_channels(x))).flatten(1)
