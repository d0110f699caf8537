"""Log-mel frames of an audio signal, and the mean MFCCs of a recording.

Both are computed with torch alone. The definitions are the common ones: a Hann window, the power spectrum,
triangular filters that are equally spaced on the mel scale mel(f) = 2595 log10(1 + f / 700), the natural logarithm.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from unknot.errors import DataError

FLOOR = 1e-6  # smallest energy; the noise of 16-bit samples is near 1e-8


def log_mel_frames(
    signal: Tensor,
    sample_rate: int = 8000,
    window: float = 0.025,
    hop: float = 0.010,
    bands: int = 40,
    floor: float = FLOOR,
) -> Tensor:
    """Logarithms of mel band energies, one row per frame.

    Frame t covers the samples from ``t * hop`` to ``t * hop + window`` (in seconds). Frames are not centered and the
    signal is not padded, so F = 1 + (samples - window) // hop (in samples). A signal that is shorter than one window
    is padded with zeros to one frame.

    Parameters
    ----------
    signal : Tensor of shape (samples,)
        Samples. Integers of 16 bits are divided by 32768; floats are used as they are.
    sample_rate : int, default=8000
        Samples per second.
    window, hop : float, default=0.025 and 0.010
        Length of a frame and distance between the starts of two frames, in seconds.
    bands : int, default=40
        Number of mel bands between 20 Hz and half the sample rate.
    floor : float, default=1e-6
        Energies below this value are raised to it before the logarithm.

    Returns
    -------
    Tensor of shape (F, bands), float32
        Natural logarithm of the energy in each band.

    Examples
    --------
    >>> log_mel_frames(torch.zeros(8000)).shape  # one second
    torch.Size([98, 40])
    """
    if signal.ndim != 1:
        raise DataError(f"log_mel_frames: expected a signal of shape (samples,), got {tuple(signal.shape)}.")
    samples = signal.float() / 32768 if signal.dtype == torch.int16 else signal.float()
    size, step = round(window * sample_rate), round(hop * sample_rate)
    samples = torch.nn.functional.pad(samples, (0, max(0, size - len(samples))))
    fft_size = (
        2 ** (2 * size - 1).bit_length()
    )  # padded with zeros, so that narrow filters cover several bins
    frames = samples.unfold(0, size, step) * torch.hann_window(size)  # (F, size)
    power = torch.fft.rfft(frames, fft_size).abs().square()  # (F, fft_size / 2 + 1)
    return (power @ mel_filters(bands, fft_size, sample_rate)).clamp(min=floor).log()


@lru_cache(maxsize=8)
def mel_filters(bands: int, fft_size: int, sample_rate: int, lowest: float = 20.0) -> Tensor:
    """Triangular filters with peak 1 between ``lowest`` Hz and half the sample rate.

    Parameters
    ----------
    bands : int
        Number of filters.
    fft_size : int
        Length of the Fourier transform.
    sample_rate : int
        Samples per second.
    lowest : float, default=20.0
        Lower edge of the first filter in Hz.

    Returns
    -------
    Tensor of shape (fft_size / 2 + 1, bands), float32
        Weight of each frequency bin in each band.
    """
    ends = 2595 * torch.log10(1 + torch.tensor([lowest, sample_rate / 2], dtype=torch.float64) / 700)
    mel = torch.linspace(ends[0], ends[1], bands + 2, dtype=torch.float64)
    edges = 700 * (10 ** (mel / 2595) - 1)  # (bands + 2,) in Hz
    bins = torch.linspace(0, sample_rate / 2, fft_size // 2 + 1, dtype=torch.float64)[:, None]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return torch.minimum(rising, falling).clamp(min=0).float()


def mfcc_means(frames: Tensor, length: Tensor, coefficients: int = 20) -> Tensor:
    """Mel-frequency cepstral coefficients, averaged over the frames of each recording.

    MFCCs are the orthonormal DCT-II of a log-mel frame. The DCT is linear, so the mean of the coefficients is the
    DCT of the mean frame. The first coefficient, which measures loudness, is included.

    Parameters
    ----------
    frames : Tensor of shape (N, T, bands)
        Log-mel frames in natural units, not standardized, padded to T.
    length : Tensor of shape (N,), integer
        Number of true frames of each recording, from 1 to T. Padding does not enter the mean.
    coefficients : int, default=20
        Number of coefficients, at most ``bands``.

    Returns
    -------
    Tensor of shape (N, coefficients), float32
        Mean coefficients of each recording.

    Examples
    --------
    >>> mfcc_means(torch.ones(2, 5, 4), torch.tensor([5, 3]), coefficients=2).tolist()
    [[2.0, 0.0], [2.0, 0.0]]
    """
    from scipy.fft import dct

    items, longest, bands = frames.shape
    if length.shape != (items,) or bool(((length < 1) | (length > longest)).any()):
        raise DataError(
            f"mfcc_means: expected {items} lengths from 1 to {longest}, got {length.tolist()[:5]}..."
        )
    if not 1 <= coefficients <= bands:
        raise DataError(f"mfcc_means: expected 1 to {bands} coefficients, got {coefficients}.")
    mask = torch.arange(longest) < length[:, None]  # (N, T)
    mean = (frames * mask[..., None]).sum(1) / length[:, None]  # (N, bands)
    cepstrum = dct(mean.double().numpy(), type=2, norm="ortho", axis=-1)[:, :coefficients]
    return torch.from_numpy(cepstrum).float()
