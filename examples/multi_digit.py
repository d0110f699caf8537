"""Several digits on one canvas, as two programs written by hand (S17 Fig. 5, right).

The encoder says how many digits there are, looks at one place after another, and hands what it sees there to a
encoder of single digits. The decoder draws this number of digits and puts them in their places. Loops end at
another count for every canvas: ``where`` switches the rest off. The count is enumerated, so nothing about it is
left to chance; the model of single digits is included as it is, under the prefix ``digit[k]``.

    python examples/multi_digit.py --steps 2000

The same program goes through the ordinary doors: canvases as a file, and a spec that names the program::

    python examples/multi_digit.py --write canvases.npz
    unknot fit examples/multi_digit.yaml canvases.npz --run runs/canvas
    unknot report runs/canvas
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import affine_grid, binary_cross_entropy, grid_sample, softplus

import unknot
from unknot import Trace
from unknot.data import Batch, Dataset, LabelBudget, load
from unknot.data.sets.multi_mnist import make_multi_mnist
from unknot.models.networks.mlp import mlp
from unknot.train import TrainConfig, fit

MOST, CANVAS, SIDE, STYLE = 3, 20, 8, 4  # digits on a canvas, its pixels, those of a digit, style dimensions


class Digit(nn.Module):
    """A model of single digits: class and style, in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.see = nn.Sequential(nn.Flatten(-3), mlp(SIDE * SIDE, [64], 64), nn.ReLU())
        self.class_of = nn.Linear(64, 10)
        self.style_of = nn.Linear(64 + 10, 2 * STYLE)
        self.draw = mlp(10 + STYLE, [64], SIDE * SIDE)

    def encode(self, image: Tensor, label: object = None) -> Trace:
        q = Trace()
        h = self.see(image)  # (..., B, 64)
        y = q.concrete(self.class_of(h), 0.66, value=label, name="class")
        loc, raw = self.style_of(unknot.cat([h, y])).chunk(2, -1)
        q.normal(loc, softplus(raw) + 1e-3, name="style")
        return q

    def decode(self, q: Trace) -> tuple[Trace, Tensor]:
        p = Trace()
        y = p.concrete(torch.zeros(10), 0.66, value=q["class"], name="class")
        z = p.normal(torch.zeros(STYLE), 1.0, value=q["style"], name="style", event_dims=1)
        return p, self.draw(unknot.cat([y, z])).sigmoid().unflatten(-1, (1, SIDE, SIDE))  # (..., B, 1, S, S)


class Canvas(nn.Module):
    """Up to three digits with their places."""

    def __init__(self) -> None:
        super().__init__()
        self.digit = Digit()
        self.see = nn.Sequential(nn.Flatten(), mlp(CANVAS * CANVAS, [128], 128), nn.ReLU())
        self.count = nn.Linear(128, MOST)
        self.glance = nn.GRUCell(128, 64)
        self.place = nn.Linear(64, 6)

    def forward(self, batch: Batch) -> tuple[Trace, Trace]:
        q = self.encode(batch.x, batch.values)
        return q, self.decode(batch.x, q)

    def encode(self, x: Tensor, labels: dict[str, Tensor] | None = None, samples: int | None = None) -> Trace:
        shown = {name: unknot.partial(values) for name, values in (labels or {}).items()}
        q = Trace(samples)
        h = self.see(x)  # (B, 128)
        known = None
        if labels and "count" in labels:
            known = unknot.partial(torch.where(labels["count"] > 0, labels["count"] - 1, -1))
        # how many more than one, enumerated: (3, 1, B), leading axes are (values, samples, batch)
        more = q.categorical(logits=self.count(h), value=known, name="more", gradient="enumerate")
        state = h.new_zeros(len(x), 64)
        for k in range(MOST):
            state = self.glance(h, state)
            loc, raw = self.place(state).chunk(2, -1)
            with q.where(more >= k):
                with q.scope("digit", k):
                    seen = shown.get(f"place_{k + 1}")
                    place = q.normal(loc, softplus(raw) + 1e-2, value=seen, name="place")  # (S, B, 3)
                q.include(self.digit.encode(cut_out(x, place), shown.get(f"digit_{k + 1}")), "digit", k)
        return q

    def predictions(self, q: Trace) -> dict[str, Tensor]:
        """What the trace says of the factors, by their names: probabilities of counts from 0, and of digits."""
        more = q["more"].dist.probs  # (B, 3)
        said = {"count": torch.cat([torch.zeros_like(more[:, :1]), more], -1)}
        for k in range(MOST):
            said[f"digit_{k + 1}"] = q[f"digit[{k}].class"].dist.probs
        return said

    def decode(self, x: Tensor | None, q: Trace) -> Trace:
        p = Trace()
        more = p.categorical(logits=torch.zeros(MOST), value=q["more"], name="more")  # (3, 1, B)
        canvas = torch.zeros(())
        for k in range(MOST):
            with p.where(more >= k):
                with p.scope("digit", k):
                    at = q[f"digit[{k}].place"]
                    place = p.normal(torch.zeros(3), 1.0, value=at, name="place", event_dims=1)
                inner, image = self.digit.decode(q.under("digit", k))
                p.include(inner, "digit", k)
            there = (more >= k)[..., None, None, None]  # (3, 1, B, 1, 1, 1)
            canvas = canvas + there * put_down(image, place)  # (3, 1, B, 1, CANVAS, CANVAS)
        p.loss(pixel_loss, canvas.clamp(1e-3, 1 - 1e-3), x, name="x")
        return p


def pixel_loss(canvas: Tensor, x: Tensor) -> Tensor:
    return binary_cross_entropy(canvas, x.expand_as(canvas), reduction="none").sum((-3, -2, -1))


def cut_out(canvas: Tensor, place: Tensor) -> Tensor:
    """The square at a place (x, y, scale): ``(B, 1, C, C)`` and ``(..., B, 3)`` to ``(..., B, 1, SIDE, SIDE)``."""
    leading, place = place.shape[:-1], place.flatten(0, -2)
    canvases = canvas.expand(*leading, *canvas.shape[1:]).flatten(0, len(leading) - 1)
    cut = grid_sample(canvases, _grid(place[:, :2], _scale(place), SIDE), align_corners=False)
    return cut.unflatten(0, leading)


def put_down(image: Tensor, place: Tensor) -> Tensor:
    """The inverse: images ``(..., B, 1, SIDE, SIDE)`` at their places, ``(..., B, 1, CANVAS, CANVAS)``."""
    leading = torch.broadcast_shapes(place.shape[:-1], image.shape[:-3])
    place = place.expand(*leading, 3).flatten(0, -2)
    images = image.expand(*leading, *image.shape[-3:]).flatten(0, len(leading) - 1)
    scale = 1 / _scale(place)
    put = grid_sample(images, _grid(-place[:, :2] * scale, scale, CANVAS), align_corners=False)
    return put.unflatten(0, leading)


def _scale(place: Tensor) -> Tensor:
    return place[:, 2:].clamp(0.2, 1.0)


def _grid(shift: Tensor, scale: Tensor, side: int) -> Tensor:
    zero = torch.zeros_like(scale)
    rows = torch.stack(
        [torch.cat([scale, zero, shift[:, :1]], 1), torch.cat([zero, scale, shift[:, 1:]], 1)], 1
    )
    return affine_grid(rows, [len(shift), 1, side, side], align_corners=False)


def scenes(count: int) -> Dataset:
    """Canvases with one to three of the small digits, every label there."""
    source = load("digits")
    return make_multi_mnist(
        source.x, source.factor("digit").values, count, canvas=CANVAS, splits=source.splits
    )


def write(path: Path, data: Dataset, share: float = 0.25) -> None:
    """Canvases as a user's own file, a share of them with labels, and a test part with all."""
    arrays = {}
    for split, ending in (("train", ""), ("test", "_test")):
        part = data.split(split)
        hidden = np.arange(len(part)) >= share * len(part) if split == "train" else np.zeros(len(part), bool)
        arrays[f"x{ending}"] = part.x.numpy()
        for name, factor in part.factors.items():
            labels = factor.values.numpy().copy()
            labels[hidden] = np.nan if labels.dtype.kind == "f" else -1
            arrays[f"{name}{ending}"] = labels
    np.savez_compressed(path, **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--canvases", type=int, default=4000)
    parser.add_argument("--write", type=Path, help="write the canvases to an .npz file, and stop")
    options = parser.parse_args()
    data = scenes(options.canvases)
    if options.write is not None:
        return write(options.write, data)
    train, test = data.split("train"), data.split("test")
    labeled = train.ids[: len(train) // 4].tolist()  # a quarter of the canvases is labeled
    train = LabelBudget.draw(train, 0, **dict.fromkeys(train.factors, labeled)).apply(train)
    torch.manual_seed(0)
    model = Canvas()
    objective = {"name": "semi_supervised", "alpha": 10.0}
    fit(model, train, TrainConfig(objective, steps=options.steps, batch_size=100, clip_norm=100.0))
    batch = test.batch(range(len(test)))
    with torch.no_grad():
        said = model.count(model.see(batch.x)).argmax(-1) + 1
    right = (said == batch.values["count"]).float().mean().item()
    print(f"right count on {len(test)} new canvases after {options.steps} steps: {right:.1%}")


if __name__ == "__main__":
    main()
