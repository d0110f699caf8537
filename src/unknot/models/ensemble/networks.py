"""The networks of an ensemble's members: every weight has a leading axis of members, (M, inputs, outputs)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import silu, softplus

from unknot.core.axes import cat
from unknot.models.ensemble.spec import Setting

_WIDE = 64  # from here on a likelihood without missing values never makes a prediction for every column
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


def per_member(x: Tensor, weight: Tensor) -> Tensor:
    """Items ``(..., M B, I)`` through their members' ``weight`` (M, I, O): ``(..., M B, O)``."""
    return (x.unflatten(-2, (len(weight), -1)) @ weight).flatten(-3, -2)


class MemberEncoders(nn.Module):
    """q(y | x) of every member: a linear part, for some settings a hidden layer beside it, and a head for each factor.

    ``sizes`` are the outputs by factor. The linear part starts at zero and the hidden one near it. Members of plain
    settings, which come last, are linear in the last ``columns`` of what is read; the others read all before.
    """

    def __init__(
        self, settings: Sequence[Setting], inputs: int, columns: int, hidden: int, sizes: Mapping[str, int]
    ) -> None:
        super().__init__()
        members = len(settings)
        self.usual = members - sum(one.plain for one in settings)
        self.deep = [m for m, one in enumerate(settings) if one.hidden]
        deep = len(self.deep)
        self.hidden = nn.Parameter(torch.randn(deep, inputs, hidden) * columns**-0.5)
        self.hidden_bias = nn.Parameter(torch.randn(deep, 1, hidden) * 0.3)
        self.linear = _parameters({name: torch.zeros(self.usual, inputs, c) for name, c in sizes.items()})
        plain = members - self.usual
        self.plain = _parameters({name: torch.zeros(plain, columns, c) for name, c in sizes.items() if plain})
        self.bias = _parameters({name: torch.zeros(members, 1, c) for name, c in sizes.items()})
        self.out = _parameters(
            {name: torch.randn(deep, hidden, c) * 0.1 * hidden**-0.5 for name, c in sizes.items()}
        )

    def forward(self, inputs: Tensor, members: int) -> dict[str, Tensor]:
        """``(B, I)`` to the outputs ``(M, B, C)`` of the first ``members``, by factor."""
        deep = [m for m in self.deep if m < members]
        usual = min(members, self.usual)
        read = self.hidden.shape[1]
        x = inputs[:, :read].expand(usual, -1, -1)
        h = silu(torch.baddbmm(self.hidden_bias[: len(deep)], x[: len(deep)], self.hidden[: len(deep)]))
        found = {}
        for name, linear in self.linear.items():
            made = torch.baddbmm(self.bias[name][:usual], x, linear[:usual])
            more = torch.bmm(h, self.out[name][: len(deep)])
            made = made.index_add(0, torch.tensor(deep, device=made.device), more) if deep else made
            if members > usual:
                columns = inputs[:, read:].expand(members - usual, -1, -1)
                line = torch.baddbmm(self.bias[name][usual:members], columns, self.plain[name])
                made = torch.cat([made, line])
            found[name] = made
        return found

    def linear_length(self, name: str) -> Tensor:
        """Half the squared length of each member's linear weights, (M,)."""
        weights = [self.linear[name], *([self.plain[name]] if name in self.plain else [])]
        return 0.5 * torch.cat([each.square().sum((1, 2)) for each in weights])

    def hidden_length(self, name: str) -> Tensor:
        """That of the hidden part as it is penalized, (M,); zero for members without one."""
        length = self.hidden.square().sum((1, 2)) / 8 + self.out[name].square().sum((1, 2))
        return length.new_zeros(len(self.bias[name])).index_put(
            (torch.tensor(self.deep, dtype=torch.long, device=length.device),), length
        )


class MemberGenerators(nn.Module):
    """q(z | x, y) and p(x | y, z) of the members that generate: a hidden layer and a linear path each, and one
    standard deviation per column."""

    def __init__(self, members: int, columns: int, hidden: int, style: int, sizes: Mapping[str, int]) -> None:
        super().__init__()
        m, d, h, z = members, columns, hidden, style
        weights = sum(sizes.values())
        self.enc_x = nn.Parameter(torch.randn(m, d, h) * d**-0.5)
        self.enc_y = _parameters({name: torch.randn(m, c, h) * 0.3 for name, c in sizes.items()})
        self.enc_mean = nn.Parameter(torch.randn(m, h, z) * h**-0.5)
        self.enc_linear = nn.Parameter(torch.randn(m, d, z) * 0.5 * d**-0.5)
        self.enc_mean_bias = nn.Parameter(torch.zeros(m, 1, z))
        self.enc_scale = nn.Parameter(torch.zeros(m, h, z))
        self.enc_scale_bias = nn.Parameter(torch.full((m, 1, z), -1.0))
        self.dec_z = nn.Parameter(torch.randn(m, z, h) * z**-0.5)
        self.dec_y = _parameters({name: torch.randn(m, c, h) * 0.3 for name, c in sizes.items()})
        start = (torch.randn(m, h, d) * 0.1 * h**-0.5, torch.randn(m, z, d) * 0.3 * z**-0.5)
        self.dec_out = nn.Parameter(torch.cat([*start, torch.zeros(m, weights, d)], 1))
        self.dec_noise = nn.Parameter(torch.zeros(m, 1, d))

    def style(self, x: Tensor, codes: Mapping[str, Tensor], members: slice) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of z, of rows ``(M B, D)`` and codes ``(..., M B, C)``."""
        h = per_member(x, self.enc_x[members])
        for name, code in codes.items():
            h = h + per_member(code, self.enc_y[name][members])
        h = silu(h)
        mean = per_member(h, self.enc_mean[members]) + per_member(x, self.enc_linear[members])
        log_scale = per_member(h, self.enc_scale[members]) + self._each(self.enc_scale_bias[members], x)
        return mean + self._each(self.enc_mean_bias[members], x), log_scale.clamp(-6, 3).exp()

    def features(self, z: Tensor, codes: Mapping[str, Tensor], members: slice) -> Tensor:
        """What the columns are linear in: a hidden layer over z and y, z, and y; ``(..., M B, U)``."""
        h = per_member(z, self.dec_z[members])
        for name, code in codes.items():
            h = h + per_member(code, self.dec_y[name][members])
        return cat([silu(h), z, *codes.values()])

    def columns(self, features: Tensor, members: slice) -> Tensor:
        """Expected columns ``(..., M B, D)``."""
        return per_member(features, self.dec_out[members])

    def scales(self, members: slice) -> Tensor:
        """The standard deviation of each column, ``(M, 1, D)``."""
        return softplus(self.dec_noise[members]) + 0.05

    def log_likelihood(self, features: Tensor, x: Tensor, seen: Tensor, members: slice) -> Tensor:
        """``Σ_d log N(x_d; (u A)_d, σ_d²)`` over the entries seen, ``(..., M B)``, of rows ``(M B, D)``.

        Where many columns are all there, it is ``|x/σ|² - 2 u·(A x/σ²) + u'(A A'/σ²)u``, without a prediction.
        """
        scale = self.scales(members)
        out = self.dec_out[members]
        if x.shape[-1] > _WIDE and bool(seen.all()):
            scaled = out / scale
            ours = x.unflatten(0, (len(out), -1)) / scale  # (M, B, D)
            cross = (ours @ scaled.mT).flatten(0, 1)  # (M B, U)
            square = (per_member(features, scaled @ scaled.mT) * features).sum(-1)
            distance = ours.square().sum(-1).flatten() - 2 * (features * cross).sum(-1) + square
            constant = (scale.log() + _HALF_LOG_TAU).sum(-1)  # (M, 1)
            return -0.5 * distance - self._each(constant, x, 1)
        error = (x - self.columns(features, members)) / self._each(scale, x)
        log_prob = -0.5 * error.square() - self._each(scale.log() + _HALF_LOG_TAU, x)
        return torch.where(seen, log_prob, 0.0).sum(-1)

    @staticmethod
    def _each(value: Tensor, items: Tensor, axis: int = 1) -> Tensor:
        """A member's value for each of its items: ``(M, 1, ...) -> (M B, ...)``."""
        return value.repeat_interleave(len(items) // len(value), 0).squeeze(axis)


def _parameters(weights: Mapping[str, Tensor]) -> nn.ParameterDict:
    return nn.ParameterDict({name: nn.Parameter(weight) for name, weight in weights.items()})
