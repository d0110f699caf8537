"""Spoken digits as log-mel frames: items with lengths, hidden labels, and random views.

Frames ``x`` are ``(B, T, bands)``. An item has ``length`` true frames; padding is zero and never counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from unknot.data import load

DIGITS, SPEAKERS, BANDS, FRAMES = 10, 6, 40, 96
FACTORS = ("digit", "speaker")
REPETITIONS = 50  # of each digit by each speaker
VALIDATION = range(5, 10)  # repetitions of training items on which settings were chosen


@dataclass(frozen=True)
class Recordings:
    """Frames (N, T, bands), numbers of true frames (N,), and the classes of both factors (N,), -1 where unknown."""

    x: Tensor
    length: Tensor
    digit: Tensor
    speaker: Tensor

    def __len__(self) -> int:
        return len(self.x)

    def rows(self, rows: Tensor) -> Recordings:
        """Some of the items."""
        return Recordings(self.x[rows], self.length[rows], self.digit[rows], self.speaker[rows])


def spoken_digits(held_out: str, standardize: bool = True) -> tuple[Recordings, Recordings]:
    """Training items and held-out items.

    Parameters
    ----------
    held_out : {"test", "validation", "toy"}
        Which items are held out: the published test split, or a part of the training split. The test split is in
        neither half of the latter. ``"toy"`` makes small synthetic items.
    standardize : bool, default=True
        Whether every band has mean 0 and standard deviation 1 over the training items.
    """
    if held_out == "toy":
        return toy_recordings(3, 0), toy_recordings(1, 1)
    data = load("spoken-digits", frames=FRAMES, standardize=standardize)
    halves = [data.split("train"), data.split("test")]
    assert all(isinstance(half.x, Tensor) for half in halves)
    train, test = (
        Recordings(torch.as_tensor(half.x), *(half.factor(name).values for name in ("length", *FACTORS)))
        for half in halves
    )
    if held_out == "test":
        return train, test
    repetition = halves[0].ids % REPETITIONS
    validation = (repetition >= VALIDATION.start) & (repetition < VALIDATION.stop)
    return train.rows(~validation), train.rows(validation)


def toy_recordings(repetitions: int, seed: int) -> Recordings:
    """Synthetic items: a smooth pattern for each digit, an offset for each speaker, and noise."""
    shapes = torch.Generator().manual_seed(0)  # the same patterns for all seeds
    generator = torch.Generator().manual_seed(seed + 1)
    patterns = interpolate(torch.randn(DIGITS, BANDS, 6, generator=shapes), FRAMES, mode="linear").mT
    offsets = torch.randn(SPEAKERS, BANDS, generator=shapes)
    count = DIGITS * SPEAKERS * repetitions
    digit, speaker = torch.arange(count) % DIGITS, torch.arange(count) // DIGITS % SPEAKERS
    length = torch.randint(FRAMES // 3, FRAMES + 1, (count,), generator=generator)
    noise = 0.3 * torch.randn(count, FRAMES, BANDS, generator=generator)
    x = patterns[digit] + 0.5 * offsets[speaker][:, None] + noise
    return Recordings(x * true_frames(length)[..., None], length, digit, speaker)


def some_labels(train: Recordings, per_digit: int, seed: int) -> Recordings:
    """The items with the labels of both factors for ``per_digit`` random items of each digit, and -1 elsewhere."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(train), generator=generator)
    chosen = torch.cat([order[train.digit[order] == digit][:per_digit] for digit in range(DIGITS)])
    known = torch.zeros(len(train), dtype=torch.bool)
    known[chosen] = True
    return replace(
        train, digit=torch.where(known, train.digit, -1), speaker=torch.where(known, train.speaker, -1)
    )


def true_frames(length: Tensor, frames: int = FRAMES, stride: int = 1) -> Tensor:
    """Which frames are not padding, ``(B, frames)``; frame t of a strided network stands for frame ``t * stride``."""
    return torch.arange(frames) * stride < length[:, None]


def stretched(x: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
    """Random views of other speed, start and loudness, with their lengths."""
    count = len(x)
    rate = torch.empty(count, 1).uniform_(0.8, 1.25)
    start = torch.rand(count, 1) * 0.1 * length[:, None]
    place = start + rate * torch.arange(FRAMES)  # (B, T), in frames of x
    last = (length - 1)[:, None]
    new_length = (place <= last).sum(1).clamp(min=1)
    before = place.floor().long().minimum(last)
    share = (place - before).clamp(0, 1)[..., None]
    rows = torch.arange(count)[:, None]
    view = x[rows, before] * (1 - share) + x[rows, (before + 1).minimum(last)] * share
    view = view + 0.3 * torch.randn(count, 1, 1)
    return view * true_frames(new_length)[..., None], new_length


def blanked(x: Tensor, length: Tensor) -> Tensor:
    """Random views without some frames and bands (Park et al. 2019), and with noise."""
    view = x + 0.2 * torch.randn_like(x)
    frames = _random_spans(length, 12, FRAMES)
    bands = _random_spans(torch.full_like(length, BANDS), 8, BANDS)
    hidden = frames[..., None] | bands[:, None] | ~true_frames(length)[..., None]
    return view.masked_fill(hidden, 0.0)


def _random_spans(size: Tensor, longest: int, total: int) -> Tensor:
    """For each item a span of at most ``longest`` places that begins before its ``size``, ``(B, total)``."""
    begin = torch.rand(len(size), 1) * size[:, None]
    place = torch.arange(total)
    return (place >= begin) & (place < begin + torch.randint(0, longest + 1, (len(size), 1)))
