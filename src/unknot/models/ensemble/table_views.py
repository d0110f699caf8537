"""Two views of a table's columns, standardized and rank-Gaussian, with missing values filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

# ---- missing values, by a linear-Gaussian model of the columns --------------------------------------------

_SWEEPS = 30


class TableFill(nn.Module):
    """E[missing entries | entries seen] in x = W z + noise, a noise per column (probabilistic PCA with missing values).

    ``learn`` fits W and the noise by EM on all rows; a row needs no label for it.
    """

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.size = min(max(columns // 2, 1), 20)
        self.register_buffer("loadings", torch.zeros(columns, self.size))
        self.register_buffer("noise", torch.ones(columns))
        self.loadings: Tensor  # W, (D, K)
        self.noise: Tensor  # variances, (D,)

    def forward(self, x: Tensor) -> Tensor:
        """Rows ``(B, D)`` with NaN for missing values, which are filled in."""
        seen = ~x.isnan()
        mean, _ = _posterior(x.nan_to_num(), seen, self.loadings, self.noise)
        return torch.where(seen, x.nan_to_num(), mean @ self.loadings.T)

    @torch.no_grad()
    def learn(self, x: Tensor) -> None:
        """EM on rows ``(N, D)`` of standardized columns."""
        x = x.double()
        seen, filled = ~x.isnan(), x.nan_to_num()
        start = torch.linalg.svd(filled, full_matrices=False)[2][: self.size].T * 0.5
        loadings = torch.zeros(x.shape[1], self.size, dtype=x.dtype, device=x.device)
        loadings[:, : start.shape[1]] = start
        noise = torch.full_like(filled[0], 0.5)
        weight = seen.to(x.dtype)
        small = 0.1 * torch.eye(self.size, dtype=x.dtype, device=x.device)
        for _ in range(_SWEEPS):
            mean, covariance = _posterior(filled, seen, loadings, noise)
            second = covariance + mean[:, :, None] * mean[:, None, :]  # (N, K, K)
            gram = (weight.T @ second.flatten(1)).unflatten(1, (self.size, self.size)) + small
            cross = filled.T @ mean  # (D, K); missing values are zero
            loadings = torch.linalg.solve(gram, cross[:, :, None])[:, :, 0]
            error = filled.square().sum(0) - (loadings * cross).sum(1)
            noise = (error / weight.sum(0).clamp_min(1)).clamp_min(0.02)
        self.loadings.copy_(loadings)
        self.noise.copy_(noise)


def _posterior(x: Tensor, seen: Tensor, loadings: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Mean ``(N, K)`` and covariance ``(N, K, K)`` of z given the entries seen."""
    size = loadings.shape[1]
    precision = seen / noise  # (N, D)
    outer = (loadings[:, :, None] * loadings[:, None, :]).flatten(1)  # (D, K K)
    eye = torch.eye(size, dtype=x.dtype, device=x.device)
    covariance = torch.linalg.inv_ex(eye + (precision @ outer).unflatten(1, (size, size)))[0]
    return (covariance @ ((precision * x) @ loadings)[:, :, None])[:, :, 0], covariance


MOST_KNOTS = 2000  # order statistics that are kept of a column
STANDARD, RANK = 0, 1
_FAR = 30.0  # how many standard deviations of labeled rows a plain column may be off
_BEYOND = torch.finfo(torch.float32).max


class Views(NamedTuple):
    """Rows as networks see them.

    Attributes
    ----------
    columns : Tensor
        Standardized and by rank, missing values filled in, ``(2, B, D)``.
    seen : Tensor
        Which entries are not missing, ``(B, D)``.
    inputs : Tensor
        Both views and a flag for each column with missing values, then the D plain columns if they are used.
    """

    columns: Tensor
    seen: Tensor
    inputs: Tensor


class TableViews(nn.Module):
    """Columns ``(B, C)``, NaN for missing values, as D numbers each in two views.

    Categories are one-hot, everything else is a number. The standardized view is clipped to ±8; the other is the
    normal quantile of an entry's mid-rank, standardized again and clipped to ±3. Missing values are filled
    in (:class:`TableFill`) if the training data have any.

    ``plain`` columns are what a regression on the labeled rows reads: standardized by those rows alone, so that a few
    far rows without a label do not make the rest of a column small, and clipped to ±30 only.
    """

    def __init__(self, columns: Sequence[Mapping[str, Any]], rows: int, plain: bool = False) -> None:
        super().__init__()
        self.described = [dict(column) for column in columns]
        self.widths = [c["size"] if c["kind"] == "category" else 1 for c in self.described]
        missing = [bool(c.get("missing")) for c in self.described]
        self.incomplete = [i for i, h in enumerate(_each(missing, self.widths)) if h]
        self.width = sum(self.widths)
        self.register_buffer("knots", torch.full((self.width, min(rows, MOST_KNOTS)), _BEYOND))
        self.register_buffer("counts", torch.zeros(self.width))
        self.register_buffer("means", torch.zeros(2, self.width))
        self.register_buffer("scales", torch.ones(2, self.width))
        self.register_buffer("plain", torch.zeros(2, self.width) if plain else None)
        self.plain: Tensor | None  # mean and standard deviation over labeled rows
        self.knots: Tensor  # sorted entries, (D, R), padded by more than any
        self.counts: Tensor  # how many of them there are, (D,)
        self.means: Tensor
        self.scales: Tensor
        self.fills = nn.ModuleList([TableFill(self.width) for _ in range(2 if self.incomplete else 0)])

    @property
    def inputs(self) -> int:
        """How many numbers an encoder reads."""
        return 2 * self.width + len(self.incomplete)

    def forward(self, rows: Tensor) -> Views:
        x = self._numbers(rows)
        both = self._views(x)
        filled = [f(v) for f, v in zip(self.fills, both, strict=True)] if self.fills else both.nan_to_num()
        columns = torch.stack(list(filled))
        seen = ~x.isnan()
        marks = 0.5 * (~seen[:, self.incomplete])
        # each view has a share of the scale, so that both together have the prior of one
        inputs = [0.71 * columns[STANDARD], 0.71 * columns[RANK], marks]
        if self.plain is not None:
            entries = torch.where(seen, x, columns[STANDARD] * self.scales[STANDARD] + self.means[STANDARD])
            inputs.append(((entries - self.plain[0]) / self.plain[1]).clamp(-_FAR, _FAR))
        return Views(columns, seen, torch.cat(inputs, -1))

    @torch.no_grad()
    def learn(self, rows: Tensor, labeled: Tensor | None = None) -> None:
        """Take the statistics of rows ``(N, C)``; of plain columns, those of the ``labeled`` rows (N,)."""
        x = self._numbers(rows.double())
        for d, column in enumerate(x.T):
            values = column[~column.isnan()].sort().values
            if len(values) > self.knots.shape[1]:
                at = torch.linspace(0, len(values) - 1, self.knots.shape[1], device=x.device)
                values = values[at.round().long()]
            self.knots[d] = _BEYOND
            self.knots[d, : len(values)] = values.to(self.knots.dtype)
            self.counts[d] = len(values)
        self.means.zero_()
        self.scales.fill_(1.0)
        for view, values in enumerate((x, self._ranks(x.to(self.knots.dtype)).double())):
            self.means[view], self.scales[view] = _moments(values)
        for fill, values in zip(self.fills, self._views(x.to(self.knots.dtype)), strict=False):
            fill.learn(values)  # type: ignore[operator]
        if self.plain is not None:
            mean, scale = _moments(x if labeled is None else x[labeled], other=self.scales[STANDARD].double())
            self.plain.copy_(torch.stack([mean, scale]))

    def entries(self, view: Tensor, rank: bool) -> Tensor:
        """Rows ``(B, C)`` whose view is ``(B, D)``: a number in its units, a share of yes, the likeliest category."""
        parts = []
        for column, numbers, shares in self._pieces(view, view, rank):
            if column["kind"] == "category":
                parts.append(shares.argmax(-1, keepdim=True).to(view.dtype))
            else:
                parts.append(shares if column["kind"] == "binary" else numbers)
        return torch.cat(parts, -1)

    def drawn(self, view: Tensor, scale: Tensor, rank: bool) -> Tensor:
        """Rows ``(B, C)`` drawn around a view ``(B, D)``: numbers by normal noise of ``scale`` (D,) in the view, whole
        ones for counts; yes and no, and categories, by the shares that are expected."""
        parts = []
        for column, numbers, shares in self._pieces(view, torch.normal(view, scale.expand_as(view)), rank):
            if column["kind"] == "category":
                parts.append(torch.multinomial(shares + 1e-9, 1).to(view.dtype))
            elif column["kind"] == "binary":
                parts.append(torch.bernoulli(shares))
            else:
                parts.append(numbers.round().clamp_min(0) if column["kind"] == "count" else numbers)
        return torch.cat(parts, -1)

    def _pieces(
        self, view: Tensor, noisy: Tensor, rank: bool
    ) -> Iterator[tuple[dict[str, Any], Tensor, Tensor]]:
        """Every column with its numbers, made from ``noisy``, and the shares of its classes, made from ``view``."""
        which = RANK if rank else STANDARD
        ends = torch.tensor([0.0, 1.0], device=view.device)[:, None].expand(2, self.width)
        low, high = self._views(ends)[which]
        share = ((view - low) / torch.where(high > low, high - low, 1.0)).clamp(0, 1)
        value = noisy * self.scales[which] + self.means[which]
        number = self._quantiles(value) if rank else value
        yield from zip(
            self.described, number.split(self.widths, -1), share.split(self.widths, -1), strict=True
        )

    def _numbers(self, rows: Tensor) -> Tensor:
        """``(B, C) -> (B, D)``, NaN for missing values."""
        parts = []
        for i, column in enumerate(self.described):
            entry = rows[:, i]
            if column["kind"] != "category":
                parts.append(entry[:, None])
                continue
            spread = one_hot(entry.nan_to_num().long(), column["size"]).to(rows.dtype)
            parts.append(torch.where(entry.isnan()[:, None], torch.nan, spread))
        return torch.cat(parts, 1)

    def _views(self, x: Tensor) -> Tensor:
        """``(B, D) -> (2, B, D)``, NaN for missing values."""
        both = torch.stack([x, self._ranks(x)])
        both = (both - self.means[:, None]) / self.scales[:, None]
        return torch.stack([both[STANDARD].clamp(-8, 8), both[RANK].clamp(-3, 3)])

    def _ranks(self, x: Tensor) -> Tensor:
        """The normal quantile of each entry's mid-rank among the knots."""
        columns = x.T.contiguous()  # (D, B)
        below = torch.searchsorted(self.knots, columns)
        upto = torch.searchsorted(self.knots, columns, right=True)
        size = self.counts[:, None] + 1
        share = ((below + upto + 1) / 2 / size).clamp(0.5 / size, 1 - 0.5 / size)
        return torch.where(columns.isnan(), torch.nan, torch.special.ndtri(share)).T

    def _quantiles(self, normal: Tensor) -> Tensor:
        """The inverse of ``_ranks``: the knot at a normal quantile, between two knots a mixture."""
        place = torch.special.ndtr(normal) * (self.counts + 1) - 1
        place = place.clamp_min(0).minimum((self.counts - 1).clamp_min(0)).T  # (D, B)
        low = place.floor().long()
        high = place.ceil().long()
        return torch.lerp(self.knots.gather(1, low), self.knots.gather(1, high), place - low).T


def _moments(x: Tensor, other: Tensor | float = 1.0) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of columns with missing values; of a constant the ``other``."""
    seen = ~x.isnan()
    count = seen.sum(0).clamp_min(1)
    mean = x.nan_to_num().sum(0) / count
    scale = (torch.where(seen, x - mean, 0.0).square().sum(0) / count).sqrt()
    return mean, torch.where(scale > 1e-9, scale, other)


def _each(values: Sequence[bool], widths: Sequence[int]) -> list[bool]:
    return [value for value, width in zip(values, widths, strict=True) for _ in range(width)]
