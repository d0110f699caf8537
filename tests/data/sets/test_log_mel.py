"""Log-mel frames against a direct computation, and mean MFCCs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.fft import dct

from unknot.data.sets.log_mel import FLOOR, log_mel_frames, mel_filters, mfcc_means
from unknot.errors import DataError


def test_frames_equal_a_direct_computation() -> None:
    rng = np.random.default_rng(0)
    signal = rng.normal(size=700)
    frames = log_mel_frames(torch.from_numpy(signal)).numpy()
    assert frames.shape == (1 + (700 - 200) // 80, 40)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(200) / 200)
    part = signal[3 * 80 : 3 * 80 + 200] * window
    frequency = np.arange(257) * 8000 / 512
    phase = np.exp(-2j * np.pi * np.outer(frequency / 8000, np.arange(200)))
    energy = np.abs(phase @ part) ** 2 @ mel_filters(40, 512, 8000).numpy()
    np.testing.assert_allclose(frames[3], np.log(energy), rtol=1e-4)


def test_every_band_has_a_filter_with_its_own_peak() -> None:
    filters = mel_filters(40, 512, 8000)
    assert filters.shape == (257, 40)
    assert float(filters.max()) <= 1
    assert bool((filters.max(0).values > 0.5).all())
    peaks = filters.argmax(0)
    assert bool((peaks[1:] > peaks[:-1]).all())
    widths = (filters > 0).sum(0)
    assert bool((widths[-5:] > 3 * widths[:5]).all())  # filters are wider at high frequencies


@pytest.mark.parametrize("frequency", [200.0, 1000.0, 3000.0])
def test_a_tone_is_loudest_in_the_band_around_it(frequency: float) -> None:
    tone = torch.sin(2 * math.pi * frequency * torch.arange(1600) / 8000)
    band = int(log_mel_frames(tone).mean(0).argmax())
    bins = mel_filters(40, 512, 8000)[:, band].nonzero()[:, 0] * 8000 / 512
    assert float(bins.min()) - 16 <= frequency <= float(bins.max()) + 16


def test_silence_has_the_floor_and_integers_are_scaled() -> None:
    silence = log_mel_frames(torch.zeros(500, dtype=torch.int16))
    torch.testing.assert_close(silence, torch.full((4, 40), math.log(FLOOR)))
    samples = torch.randint(-20000, 20000, (900,), dtype=torch.int16)
    torch.testing.assert_close(log_mel_frames(samples), log_mel_frames(samples.float() / 32768))


def test_a_short_signal_is_one_frame_and_two_axes_are_refused() -> None:
    assert log_mel_frames(torch.ones(30)).shape == (1, 40)
    with pytest.raises(DataError, match=r"expected a signal of shape \(samples,\), got \(2, 100\)"):
        log_mel_frames(torch.zeros(2, 100))


def test_mean_mfccs_leave_out_the_padding() -> None:
    frames = torch.randn(3, 6, 40)
    length = torch.tensor([6, 1, 4])
    means = mfcc_means(frames, length)
    assert means.shape == (3, 20)
    for row, size in enumerate(length.tolist()):
        coefficients = dct(frames[row, :size].numpy(), type=2, norm="ortho", axis=-1)
        np.testing.assert_allclose(means[row], coefficients.mean(0)[:20], atol=1e-5)
    frames[1, 1:] = 1e6
    torch.testing.assert_close(mfcc_means(frames, length), means)


def test_wrong_lengths_and_too_many_coefficients_are_refused() -> None:
    frames = torch.zeros(2, 5, 8)
    with pytest.raises(DataError, match="expected 2 lengths from 1 to 5"):
        mfcc_means(frames, torch.tensor([0, 5]))
    with pytest.raises(DataError, match="expected 1 to 8 coefficients, got 20"):
        mfcc_means(frames, torch.tensor([1, 5]))
