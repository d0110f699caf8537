"""Networks for spoken digits: a classifier of digit and speaker, and a generative model whose encoder contains it."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool1d, one_hot, softplus

import unknot
from experiments.sequences.speech_items import BANDS, DIGITS, FACTORS, FRAMES, SPEAKERS, true_frames
from unknot.core.trace import Trace

STYLE = 16
_TEMPERATURE = 0.66
_STARTING_FRAMES = FRAMES // 8  # of the decoder, which doubles them three times
_PLACES = 6  # averages over time that the style's network gets


class Classifier(nn.Module):
    """Logits of digit and speaker, from convolutions over time and the mean and maximum over the true frames."""

    def __init__(self, width: int = 128, dropout: float = 0.3) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            [
                nn.Conv1d(BANDS, width // 2, 5, stride=2, padding=2),
                nn.Conv1d(width // 2, width, 5, stride=2, padding=2),
                nn.Conv1d(width, width, 3, padding=1),
            ]
        )
        self.norms = nn.ModuleList([nn.LayerNorm(width // 2), nn.LayerNorm(width), nn.LayerNorm(width)])
        self.dropout = nn.Dropout(dropout)
        self.heads = nn.ModuleDict(
            {"digit": nn.Linear(2 * width, DIGITS), "speaker": nn.Linear(2 * width, SPEAKERS)}
        )

    def features(self, x: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
        """Features (B, width, T / 4), zero at padding, and which of these frames are true, (B, 1, T / 4)."""
        h, stride = x.mT, 1
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            assert isinstance(convolution, nn.Conv1d)
            stride *= convolution.stride[0]
            h = norm(convolution(h).mT).mT.relu()
            mask = true_frames(length, h.shape[-1], stride)[:, None]
            h = h * mask
        return h, mask

    def logits(self, h: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """Logits of both factors from features."""
        pooled = self.dropout(torch.cat([h.sum(-1) / mask.sum(-1), h.amax(-1)], -1))
        return {name: head(pooled) for name, head in self.heads.items()}

    def forward(self, x: Tensor, length: Tensor) -> dict[str, Tensor]:
        return self.logits(*self.features(x, length))

    @torch.no_grad()
    def predict(self, x: Tensor, length: Tensor) -> dict[str, Tensor]:
        """The most likely digit and speaker of each item."""
        self.eval()
        return {name: logits.argmax(-1) for name, logits in self(x, length).items()}


class SpeechModel(nn.Module):
    """Digit, speaker and style of spoken digits.

        p:  digit, speaker uniform,  style ~ N(0, I),  x_t ~ N(f_t(digit, speaker, style), s²) for t < length
        q:  digit | x,  speaker | x,  style | x, digit, speaker

    Digit and speaker are Concrete variables.
    """

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.classifier = Classifier(width)
        codes = DIGITS + SPEAKERS
        self.style = nn.Sequential(
            nn.Linear(_PLACES * width + codes, 128), nn.ReLU(), nn.Linear(128, 2 * STYLE)
        )
        self.start = nn.Linear(codes + STYLE, width * _STARTING_FRAMES)
        self.upsampling = nn.Sequential(
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv1d(width, width, 3, padding=1),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv1d(width, width // 2, 5, padding=2),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv1d(width // 2, BANDS, 5, padding=2),
        )
        self.scale = nn.Parameter(torch.zeros(BANDS))

    def encode(self, x: Tensor, length: Tensor, digit: Tensor, speaker: Tensor) -> Trace:
        """Propose digit, speaker and style; the labels ``digit`` and ``speaker`` are -1 where unknown."""
        q = Trace()
        h, mask = self.classifier.features(x, length)
        logits = self.classifier.logits(h, mask)
        digits = q.concrete(logits["digit"], _TEMPERATURE, value=unknot.partial(digit), name="digit")
        speakers = q.concrete(logits["speaker"], _TEMPERATURE, value=unknot.partial(speaker), name="speaker")
        q.normal(*self.style_parameters(h, digits, speakers), name="style")
        return q

    def style_parameters(self, h: Tensor, digits: Tensor, speakers: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of the style, from features and codes of the classes."""
        places = adaptive_avg_pool1d(h, _PLACES).flatten(1)
        mean, scale = self.style(unknot.cat([places, digits, speakers], -1)).chunk(2, -1)
        return mean, softplus(scale) + 1e-3

    def decode(self, x: Tensor, length: Tensor, q: Trace) -> Trace:
        """The generative program at the values of q; only true frames are scored."""
        p = Trace()
        digits = p.concrete(torch.zeros(DIGITS), _TEMPERATURE, value=q["digit"], name="digit")
        speakers = p.concrete(torch.zeros(SPEAKERS), _TEMPERATURE, value=q["speaker"], name="speaker")
        style = p.normal(torch.zeros(STYLE), 1.0, value=q["style"], name="style")
        frames = self.frames(digits, speakers, style)
        with unknot.mask(true_frames(length)[..., None].expand_as(x)):
            p.normal(frames, softplus(self.scale) + 0.05, value=x, name="x")
        return p

    def frames(self, digits: Tensor, speakers: Tensor, style: Tensor) -> Tensor:
        """Mean frames (..., B, T, bands)."""
        codes = unknot.cat([digits, speakers, style], -1)
        h = self.start(codes).unflatten(-1, (-1, _STARTING_FRAMES))  # (..., B, width, T / 8)
        frames: Tensor = self.upsampling(h.flatten(0, -3)).mT
        return frames.unflatten(0, codes.shape[:-1])

    @torch.no_grad()
    def converted(self, x: Tensor, length: Tensor) -> Tensor:
        """Every item decoded with each speaker, its predicted digit and the mean of its style, (6, B, T, bands).

        The style is that of the predicted digit and speaker; no label is used.
        """
        self.eval()
        h, mask = self.classifier.features(x, length)
        logits = self.classifier.logits(h, mask)
        digits, speakers = (
            one_hot(logits[name].argmax(-1), logits[name].shape[-1]).float() for name in FACTORS
        )
        style, _ = self.style_parameters(h, digits, speakers)
        frames = [self.frames(digits, code.expand(len(x), -1), style) for code in torch.eye(SPEAKERS)]
        return torch.stack(frames) * true_frames(length)[..., None]
