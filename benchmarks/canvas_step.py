"""A step on canvases of one to three digits, with a trained model of digits nested inside, against the same by hand.

S17 sec. 3.3 at MNIST's size: x (50 x 50) -> count, enumerated; a GRU gives one place after another; each crop (28 x 28)
goes through the nested model's encoder; its mean images are put down again. S17's fully connected digit model,
frozen; B = 100, half of the canvases with all their labels; Eq. 8, forward, backward and fused Adam. Both compute the
same number from the same seed.

    python -m benchmarks canvas_step
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.nn.functional import binary_cross_entropy, one_hot, softplus

import unknot
from benchmarks.in_turns import medians, training_step
from benchmarks.row import row
from unknot.models import GraphicalModel, node
from unknot.models.networks.mlp import mlp
from unknot.objectives import semi_supervised
from unknot.workflow.nested import Nested

BATCH, MOST, CANVAS, SIDE, CLASSES, STYLE, STATE, ALPHA = 100, 3, 50, 28, 10, 10, 128, 10.0
TAU = 0.66
FAINT = 1e-3
GOAL = 1.15
LAYER = {"name": "mlp", "hidden": [256]}
DIGIT = [
    node("digit", "concrete", CLASSES, inferred_from=["x"], labels=True),
    node("style", "normal", STYLE, inferred_from=["x", "digit"]),
    node("x", "bernoulli", parents=["digit", "style"], encoder=LAYER, decoder=LAYER),
]


class Networks(nn.Module):
    """The networks that both versions share."""

    def __init__(self) -> None:
        super().__init__()
        self.digit = Nested(GraphicalModel(DIGIT, (1, SIDE, SIDE)))
        self.see = nn.Sequential(nn.Flatten(), mlp(CANVAS * CANVAS, [256], 256), nn.ReLU())
        self.count = nn.Linear(256, MOST)
        self.glance = nn.GRUCell(256, STATE)
        self.place = nn.Linear(STATE, 6)

    def placed(self, state: Tensor) -> tuple[Tensor, Tensor]:
        loc, raw = self.place(state).chunk(2, -1)
        return loc, softplus(raw - 1) + 1e-2


Labels = dict[str, Tensor]


def traced(nets: Networks, x: Tensor, labels: Labels) -> Tensor:
    """The loss with traces."""
    q = recognize(nets, x, labels)
    return semi_supervised(q, generate(nets, x, q), alpha=ALPHA).loss


def recognize(nets: Networks, x: Tensor, labels: Labels) -> unknot.Trace:
    q = unknot.Trace()
    h = nets.see(x)
    known = unknot.partial(labels["more"])
    more = q.categorical(logits=nets.count(h), value=known, name="more", gradient="enumerate")
    state = h.new_zeros(len(x), STATE)
    for k in range(MOST):
        state = nets.glance(h, state)
        with q.where(more >= k):
            with q.scope("thing", k):
                seen = unknot.partial(labels["place"][:, k])
                place = q.normal(*nets.placed(state), value=seen, name="place")
            digit = {"digit": unknot.partial(labels["digit"][:, k])}
            q.include(nets.digit.encode(cut_out(x, place), digit), "thing", k)
    return q


def generate(nets: Networks, x: Tensor, q: unknot.Trace) -> unknot.Trace:
    p = unknot.Trace()
    more = p.categorical(logits=torch.zeros(MOST), value=q["more"], name="more")
    there, lit = [], []
    for k in range(MOST):
        there.append(more >= k)
        with p.where(there[k]):
            with p.scope("thing", k):
                at = q[f"thing[{k}].place"]
                place = p.normal(torch.zeros(3), 1.0, value=at, name="place", event_dims=1)
            inner, image = nets.digit.decode_mean(q.under("thing", k))
            p.include(inner, "thing", k)
        lit.append(put_down(image, place).flatten(-3))  # (B, C * C)
    # for every count the sum of so many images, in one product of small matrices
    canvas = torch.einsum("...k,...kp->...p", torch.stack(there, -1).float(), torch.stack(lit, -2))
    canvas = canvas.unflatten(-1, x.shape[1:])  # (counts, 1, B, 1, C, C)
    p.loss(pixel_loss, canvas.clamp(FAINT, 1 - FAINT), x, name="x")
    return p


def by_hand(nets: Networks, x: Tensor, labels: Labels) -> Tensor:
    """The same loss in plain PyTorch."""
    model: Any = nets.digit.module
    h = nets.see(x)
    log_more = nets.count(h).log_softmax(-1)  # (B, N)
    counted = labels["more"] >= 0
    told = one_hot(labels["more"].clamp_min(0), MOST).bool()
    share = torch.where(counted[:, None], told.float(), log_more.exp())
    state = h.new_zeros(len(x), STATE)
    canvas = x.new_zeros(x.shape)
    canvases, bounds, of_labels = [], [], []
    bound, of_label = x.new_zeros(len(x)), x.new_zeros(len(x))
    for k in range(MOST):
        state = nets.glance(h, state)
        loc, scale = nets.placed(state)
        label, digit = labels["place"][:, k], labels["digit"][:, k]
        placed, read = ~label.isnan().any(-1), digit >= 0
        place = torch.where(placed[:, None], label.nan_to_num(), loc + scale * torch.randn_like(loc))
        log_q_place = normal(place, loc, scale)
        features = model.trunk(cut_out(x, place))
        logits = model.recognition["digit"].network(features)
        log_y = ((logits - torch.empty_like(logits).exponential_().log()) / TAU).log_softmax(-1)
        y = torch.where(read[:, None], one_hot(digit.clamp_min(0), CLASSES).float(), log_y.exp())
        log_q_y, log_p_y = score(logits, y, log_y, read), score(logits.new_zeros(CLASSES), y, log_y, read)
        shown = (y - 1 / CLASSES) * (CLASSES / (CLASSES - 1) ** 0.5)
        style, raw = model.recognition["style"].network(torch.cat([features, shown], -1)).chunk(2, -1)
        width = softplus(raw) + 1e-3
        z = style + width * torch.randn_like(style)
        image = model.generation["x"](torch.cat([shown, z], -1)).sigmoid()
        canvas = canvas + put_down(image, place)
        canvases.append(canvas)
        prior = normal(place, 0.0, 1.0) + log_p_y + normal(z, 0.0, 1.0) - normal(z, style, width)
        drawn = torch.where(placed, 0.0, log_q_place) + torch.where(read, 0.0, log_q_y)
        bound = bound + prior - drawn
        of_label = of_label + torch.where(placed, log_q_place, 0.0) + torch.where(read, log_q_y, 0.0)
        bounds.append(bound)
        of_labels.append(of_label)
    pixels = pixel_loss(torch.stack(canvases).clamp(FAINT, 1 - FAINT), x).T  # (B, N)
    inside = torch.stack(bounds, -1) - pixels - math.log(MOST) - torch.where(counted[:, None], 0.0, log_more)
    taught = torch.where(told, torch.stack(of_labels, -1) + log_more, 0.0).sum(-1)
    total = (share * inside).sum(-1) + ALPHA * torch.where(counted, taught, 0.0)
    return -total.mean()


def normal(value: Tensor, loc: Tensor | float, scale: Tensor | float) -> Tensor:
    return Normal(loc, scale, validate_args=False).log_prob(value).sum(-1)


def score(logits: Tensor, y: Tensor, log_y: Tensor, known: Tensor) -> Tensor:
    """A class by its mass where it is known, and a draw by its density."""
    constant = math.lgamma(CLASSES) + (CLASSES - 1) * math.log(TAU)
    density = (logits - TAU * log_y).log_softmax(-1).sum(-1) + constant
    return torch.where(known, (y * logits.log_softmax(-1)).sum(-1), density)


def pixel_loss(canvas: Tensor, x: Tensor) -> Tensor:
    return binary_cross_entropy(canvas, x.expand_as(canvas), reduction="none").sum((-3, -2, -1))


def cut_out(canvas: Tensor, place: Tensor) -> Tensor:
    """What lies at the places (x, y, scale), ``(..., B, 3)``: two small matrices for each."""
    shift, scale = place[..., None, :2], place[..., None, 2:].clamp(0.3, 1.0)
    points = middles(SIDE)[:, None] * scale + shift  # (..., B, S, 2)
    rows, columns = bilinear(points[..., 1], CANVAS), bilinear(points[..., 0], CANVAS)
    return (rows @ canvas.squeeze(-3) @ columns.mT).unsqueeze(-3)


def put_down(image: Tensor, place: Tensor) -> Tensor:
    """The inverse: images at their places."""
    shift, scale = place[..., None, :2], place[..., None, 2:].clamp(0.3, 1.0)
    points = (middles(CANVAS)[:, None] - shift) / scale  # (..., B, C, 2)
    rows, columns = bilinear(points[..., 1], SIDE), bilinear(points[..., 0], SIDE)
    return (rows @ image.squeeze(-3) @ columns.mT).unsqueeze(-3)


def middles(pixels: int) -> Tensor:
    return (torch.arange(pixels) + 0.5) / pixels * 2 - 1


def bilinear(points: Tensor, pixels: int) -> Tensor:
    at = (points + 1) * pixels / 2 - 0.5
    return (1 - (at.unsqueeze(-1) - torch.arange(pixels)).abs()).clamp(min=0)


def batch() -> tuple[Tensor, Labels]:
    """Canvases, and labels for every other one: the count, and as many digits and places."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(BATCH, 1, CANVAS, CANVAS, generator=generator)
    more = torch.randint(0, MOST, (BATCH,), generator=generator)
    digit = torch.randint(0, CLASSES, (BATCH, MOST), generator=generator)
    place = torch.rand(BATCH, MOST, 3, generator=generator) - 0.2
    shown = (torch.arange(BATCH) % 2 == 0)[:, None] & (torch.arange(MOST) <= more[:, None])  # (B, K)
    labels = {
        "more": torch.where(shown[:, 0], more, -1),
        "digit": torch.where(shown, digit, -1),
        "place": torch.where(shown[..., None], place, float("nan")),
    }
    return x, labels


def run() -> list[dict[str, Any]]:
    """Rows for ``python -m benchmarks``."""
    x, labels = batch()
    steps = []
    for loss in (traced, by_hand):
        torch.manual_seed(1)
        nets = Networks()
        steps.append(training_step(nets, partial(loss, nets, labels=labels), x))
    with unknot.validation(False):
        ours, hand = medians(steps, rounds=60, warm=4)
    name = f"canvases of up to {MOST} digits, nested model, B={BATCH}"
    rows: list[tuple[str, float, str, float | None]] = [
        ("ours", BATCH / ours, "1/s", None),
        ("by hand", BATCH / hand, "1/s", None),
        ("time over by hand", ours / hand, "x", GOAL),
    ]
    return [row(f"{name}: {what}", value, unit, goal) for what, value, unit, goal in rows]
