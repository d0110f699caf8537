"""The variance of the gradient of one step with score-function draws, and what Rao-Blackwellization takes away from it.

The variance of a gradient is the sum of the variances of its components, over all parameters, for one fixed batch. It
is estimated from ``DRAWS`` steps, with a 95 % interval. Three kinds of programs:

* ``AIR``: three steps, each with a discrete presence that switches a Gaussian code and its contribution to x on or off
  (Eslami et al. 2016). ELBO, one sample. Beside it stands the score function with the whole objective as its reward;
* ``Eq. 8`` and ``Eq. 9``: a class and a style, both discrete, a Gaussian code and a label that is read from the code
  and known for half of the items. ``semi_supervised`` and ``importance_weighted``, eight samples;
* ``missing view``: two views of an item, the second one binary and missing for half of the items, as
  ``value=partial(x2, known)`` and as ``with p.where(known)``.

"traced" are programs run by ``unknot.trace``, whose dependences are known. The others know the order of their sites.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, softplus

import unknot
from benchmarks.row import row
from unknot.core.expectation import expect
from unknot.objectives import elbo, importance_weighted, semi_supervised

DRAWS, BATCH, SAMPLES = 2000, 8, 8
STEPS, PIXELS, HIDDEN, CODE, CLASSES, STYLES, LABELS = 3, 8, 16, 2, 4, 3, 3
GOAL_AIR, GOAL_MISSING = 1.0, 1.1
Loss = Callable[[], Tensor]


class Air(nn.Module):
    """Objects that are present or not: x is the sum of what the present ones contribute."""

    def __init__(self) -> None:
        super().__init__()
        self.state = nn.Linear(PIXELS + HIDDEN + CODE + 1, HIDDEN)
        self.presence, self.code = nn.Linear(HIDDEN, 1), nn.Linear(HIDDEN, 2 * CODE)
        self.prior = nn.Parameter(torch.zeros(()))
        self.decoder = nn.Sequential(nn.Linear(CODE, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, PIXELS))

    def encode(self, x: Tensor, gradient: str = "score_function") -> unknot.Trace:
        q = unknot.Trace()
        state, seen = x.new_zeros(len(x), HIDDEN), x.new_zeros(len(x), CODE + 1)
        for step in range(STEPS):
            with q.scope("step", step):
                state = self.state(unknot.cat([x, state, seen], -1)).tanh()
                logits = self.presence(state).squeeze(-1)
                presence = q.bernoulli(logits=logits, gradient=gradient, name="presence", event_dims=0)
                loc, raw = self.code(unknot.cat([state], -1)).chunk(2, -1)
                with q.where(presence > 0.5):
                    code = q.normal(loc, softplus(raw), name="code", event_dims=1)
                seen = unknot.cat([code * presence[..., None], presence[..., None]], -1)
        return q

    def decode(self, x: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        total: Tensor | float = 0.0
        for step in range(STEPS):
            with p.scope("step", step):
                names = f"step[{step}].presence", f"step[{step}].code"
                logits = self.prior.expand(len(x))
                presence = p.bernoulli(logits=logits, value=q[names[0]], name="presence", event_dims=0)
                with p.where(presence > 0.5):
                    code = p.normal(0.0, 1.0, value=q[names[1]], name="code", event_dims=1)
                total = total + self.decoder(code) * presence[..., None]
        p.normal(total, 0.5, value=x, name="x", event_dims=1)
        return p


class Labeled(nn.Module):
    """q(class, style | x) q(z | x, class) q(label | z); the label is given for some items."""

    def __init__(self) -> None:
        super().__init__()
        self.kind, self.style = nn.Linear(PIXELS, CLASSES), nn.Linear(PIXELS, STYLES)
        self.code, self.label = nn.Linear(PIXELS + CLASSES, 2 * CODE), nn.Linear(CODE, LABELS)
        self.code_of_kind, self.label_of_kind = nn.Linear(CLASSES, CODE), nn.Linear(CLASSES, LABELS)
        self.decoder = nn.Linear(CODE + STYLES, PIXELS)

    def encode(
        self, x: Tensor, labels: Tensor, known: Tensor, gradient: str = "score_function"
    ) -> unknot.Trace:
        q = unknot.Trace(samples=SAMPLES)
        kind = q.categorical(logits=self.kind(x), gradient=gradient, name="kind", event_dims=0)
        q.categorical(logits=self.style(x), gradient=gradient, name="style", event_dims=0)
        loc, raw = self.code(unknot.cat([x, one_hot(kind, CLASSES).to(x.dtype)], -1)).chunk(2, -1)
        z = q.normal(loc, softplus(raw), name="z", event_dims=1)
        given = unknot.partial(labels, known)
        q.categorical(logits=self.label(z), value=given, gradient=gradient, name="label", event_dims=0)
        return q

    def decode(self, x: Tensor, q: unknot.Trace) -> unknot.Trace:
        p = unknot.Trace()
        kind = p.categorical(logits=x.new_zeros(CLASSES), value=q["kind"], name="kind", event_dims=0)
        style = p.categorical(logits=x.new_zeros(STYLES), value=q["style"], name="style", event_dims=0)
        classes = one_hot(kind, CLASSES).to(x.dtype)
        z = p.normal(self.code_of_kind(classes), 1.0, value=q["z"], name="z", event_dims=1)
        p.categorical(logits=self.label_of_kind(classes), value=q["label"], name="label", event_dims=0)
        loc = self.decoder(unknot.cat([z, one_hot(style, STYLES).to(x.dtype)], -1))
        p.normal(loc, 0.5, value=x, name="x", event_dims=1)
        return p


class TwoViews(nn.Module):
    """Two views of one code; the second one is binary and may be missing."""

    def __init__(self) -> None:
        super().__init__()
        self.code = nn.Linear(PIXELS, 2 * CODE)
        self.first, self.second = nn.Linear(CODE, PIXELS), nn.Linear(CODE, 2 * PIXELS)

    def encode(self, x: Tensor) -> unknot.Trace:
        q = unknot.Trace()
        loc, raw = self.code(x).chunk(2, -1)
        q.normal(loc, softplus(raw), name="z", event_dims=1)
        return q

    def decode(
        self, x: Tensor, second: Tensor, known: Tensor, q: unknot.Trace, how: str, last: bool = True
    ) -> unknot.Trace:
        """``how`` is "partial" or "where"; ``last`` writes the second view after the first."""
        p = unknot.Trace()
        z = p.normal(0.0, 1.0, value=q["z"], name="z", event_dims=1)
        if last:
            p.normal(self.first(z), 0.5, value=x, name="x1", event_dims=1)
        logits = self.second(z)
        if how == "partial":
            p.bernoulli(logits=logits, value=unknot.partial(second, known), name="x2", event_dims=1)
        else:
            with p.where(known):
                p.bernoulli(logits=logits, value=second, name="x2", event_dims=1)
        if not last:
            p.normal(self.first(z), 0.5, value=x, name="x1", event_dims=1)
        return p


def gradients(module: nn.Module, loss: Loss, draws: int) -> Tensor:
    """The gradients of ``draws`` steps on one batch, ``(draws, parameters)``, in double precision."""
    weights = list(module.parameters())
    rows = []
    for _ in range(draws):
        slopes = torch.autograd.grad(loss(), weights, allow_unused=True, materialize_grads=True)
        rows.append(torch.cat([slope.flatten() for slope in slopes]).double())
    return torch.stack(rows)


def total_variance(slopes: Tensor) -> tuple[float, float]:
    """The summed variance of all components, and half the width of its 95 % interval."""
    count = len(slopes)
    squares = (slopes - slopes.mean(0)).square().sum(-1) * count / (count - 1)
    return squares.mean().item(), 1.96 * squares.std().item() / count**0.5


def air_losses(model: Air, x: Tensor) -> dict[str, Loss]:
    def whole() -> Tensor:
        """The score function rewards every presence with the whole objective."""
        q = model.encode(x)
        return -expect(q, model.decode(x, q).log_prob() - q.log_prob()).mean()

    def plain() -> Tensor:
        q = model.encode(x)
        return elbo(q, model.decode(x, q)).loss

    def traced() -> Tensor:
        q = unknot.trace(model.encode, x)
        return elbo(q, unknot.trace(model.decode, x, q)).loss

    return {"whole objective as reward": whole, "elbo": plain, "traced, elbo": traced}


def labeled_losses(model: Labeled, *batch: Tensor) -> dict[str, Loss]:
    def loss(objective: Callable[[unknot.Trace, unknot.Trace], Any], traced: bool) -> Tensor:
        if not traced:
            q = model.encode(*batch)
            return objective(q, model.decode(batch[0], q)).loss  # type: ignore[no-any-return]
        q = unknot.trace(model.encode, *batch)
        return objective(q, unknot.trace(model.decode, batch[0], q)).loss  # type: ignore[no-any-return]

    return {
        "Eq. 8": partial(loss, semi_supervised, traced=False),
        "traced, Eq. 8": partial(loss, semi_supervised, traced=True),
        "Eq. 9": partial(loss, importance_weighted, traced=False),
        "traced, Eq. 9": partial(loss, importance_weighted, traced=True),
    }


def missing_losses(model: TwoViews, *batch: Tensor) -> dict[str, Loss]:
    def loss(how: str, last: bool, traced: bool) -> Tensor:
        if not traced:
            q = model.encode(batch[0])
            return elbo(q, model.decode(*batch, q, how, last)).loss
        q = unknot.trace(model.encode, batch[0])
        return elbo(q, unknot.trace(model.decode, *batch, q, how, last)).loss

    return {
        "where": partial(loss, "where", last=True, traced=False),
        "partial": partial(loss, "partial", last=True, traced=False),
        "partial, written first": partial(loss, "partial", last=False, traced=False),
        "traced, partial, written first": partial(loss, "partial", last=False, traced=True),
    }


def measure(title: str, module: nn.Module, losses: dict[str, Loss], draws: int) -> list[dict[str, Any]]:
    """The variance of every loss and its interval; the ratio to the first one of each title."""
    variances: dict[str, float] = {}
    rows = []
    for name, loss in losses.items():
        torch.manual_seed(1)
        variances[name], half = total_variance(gradients(module, loss, draws))
        rows.append(row(f"{title}: {name}", variances[name], "variance"))
        rows.append(row(f"{title}: {name}, 95 % interval", half, "+-"))
    return rows


def ratio(rows: list[dict[str, Any]], title: str, over: str, under: str, goal: float) -> dict[str, Any]:
    """The ratio of two variances."""
    values = {one["name"]: one["value"] for one in rows}
    top, bottom = values[f"{title}: {over}"], values[f"{title}: {under}"]
    return row(f"{title}: {over} / {under}", top / bottom, "x", goal)


def run(draws: int = DRAWS) -> list[dict[str, Any]]:
    """Rows for ``python -m benchmarks``."""
    torch.manual_seed(0)
    x = torch.randn(BATCH, PIXELS)
    known = torch.arange(BATCH) % 2 == 0
    labels = torch.randint(0, LABELS, (BATCH,))
    second = torch.randint(0, 2, (BATCH, 2 * PIXELS)).float()
    air, labeled, views = Air(), Labeled(), TwoViews()
    with unknot.validation(False):
        rows = measure("AIR", air, air_losses(air, x), draws)
        rows += measure("labels", labeled, labeled_losses(labeled, x, labels, known), draws)
        rows += measure("missing view", views, missing_losses(views, x, second, known), draws)
    return [
        *rows,
        ratio(rows, "AIR", "elbo", "whole objective as reward", GOAL_AIR),
        ratio(rows, "AIR", "traced, elbo", "whole objective as reward", GOAL_AIR),
        ratio(rows, "labels", "traced, Eq. 8", "Eq. 8", 1.0),
        ratio(rows, "missing view", "partial", "where", GOAL_MISSING),
        ratio(rows, "missing view", "traced, partial, written first", "where", GOAL_MISSING),
    ]
