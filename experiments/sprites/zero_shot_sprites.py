"""zero-shot-sprites: hearts in the right half, where the training set has none (E19 Fig. 7, on dSprites)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from experiments.ledger.codes import CLASS, STYLE
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import fitted
from experiments.sprites import dsprites, dsprites_best
from experiments.sprites.sprites import small_sprites, toy_sprites
from unknot.data import hold_out
from unknot.data.dataset import Dataset
from unknot.plots.images import image_grid
from unknot.plots.style import save
from unknot.workflow.trained_model import TrainedModel

PLACE, SHAPE = "posX", "shape"
FITTED_ON = 10_000  # training images of the linear regression of the place on the codes
POSED, MEAN = "class and pose (dsprites-best)", "mean place of the training hearts"
SHOWN = 12


def cases(tier: Tier) -> list[Case]:
    """Return VAE and HFVAE of dsprites, the model of dsprites-best, and the mean as a baseline."""
    flat = [case for case in dsprites.cases(tier) if case["row"] in ("VAE", dsprites.PRINTED)]
    best = dsprites_best.cases(tier)[0]
    data = {key: best[key] for key in ("items", "block")}
    posed = {"row": POSED, **data, "arguments": best["arguments"], "train": best["train"]}
    return [*flat, posed, {"row": MEAN, **data}]


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train without the combination, and measure on its test images and on those of the shape elsewhere."""
    block = settings["block"]
    whole = small_sprites(settings["items"], block) if block else toy_sprites(settings["items"])
    combination = held_out(whole)
    seen, _ = hold_out(whole.split("train"), combination)
    elsewhere, unseen = hold_out(whole.split("test"), combination)
    same = hold_out(elsewhere, {SHAPE: combination[SHAPE]})[1]
    if "train" not in settings:
        hearts = seen.factors[SHAPE].values == combination[SHAPE]
        mean = seen.factors[PLACE].values[hearts].float().mean()
        return {"unseen_place": _rmse(mean.expand(len(unseen)), unseen)}
    of_pose = "arguments" in settings
    described = dsprites_best.described(settings["arguments"]) if of_pose else settings["model"]
    model = fitted(replace(seen, factors={}), seed, settings["train"], described)
    pixels = max(block, 1) ** 2
    if pictures is not None:
        shown = _images(unseen)[:SHOWN]
        grid = torch.stack([shown, model.reconstruct(shown)]).numpy()
        save(image_grid(grid, rows=["unseen", "reconstruction"], ink=False), pictures / "reconstructions.png")
    weights = _regression(model, seen)
    return {
        f"{name}_{key}": value
        for name, items in {"unseen": unseen, "seen": same}.items()
        for key, value in {
            "nats": pixels * _nats(model, _images(items)),
            "place": _rmse((_codes(model, _images(items)) @ weights)[:, 0], items),
        }.items()
    }


def held_out(data: Dataset) -> dict[str, Any]:
    """Return the combination: the last shape (the heart) in the right half."""
    places = data.factors[PLACE].num_classes or 0
    return {SHAPE: (data.factors[SHAPE].num_classes or 0) - 1, PLACE: list(range(places // 2, places))}


def _images(items: Dataset) -> Tensor:
    return items.batch(torch.arange(len(items))).x


def _nats(model: TrainedModel, x: Tensor) -> float:
    reconstructed = model.reconstruct(x).clamp(1e-4, 1 - 1e-4)
    return float(binary_cross_entropy(reconstructed, x, reduction="none").flatten(1).sum(1).mean())


def _regression(model: TrainedModel, seen: Dataset) -> Tensor:
    """Return weights ``(P, 1)`` from codes to the place, by least squares on training images."""
    rows = seen.subset(torch.arange(min(FITTED_ON, len(seen))))
    true = rows.factors[PLACE].values.double()[:, None]
    return torch.linalg.lstsq(_codes(model, _images(rows)), true).solution


def _codes(model: TrainedModel, x: Tensor) -> Tensor:
    """Return class probabilities and the other codes, ``(N, P)``."""
    found = model.predict(x).predictions
    numbers = [STYLE] if STYLE in found else list(dsprites_best.CODES)
    return torch.cat([found[name] for name in (CLASS, *numbers)], -1).double()


def _rmse(predicted: Tensor, items: Dataset) -> float:
    return float((predicted - items.factors[PLACE].values).square().double().mean().sqrt())


EXPERIMENT = Experiment(
    name="zero-shot-sprites",
    place="E19 Fig. 7, on dSprites",
    about="dSprites without hearts in the right half: codes and reconstructions of these test images.",
    cases=cases,
    run=run,
    measures=(
        Measure("unseen_nats", "unseen: -log p(x | codes)", "nats", decimals=1),
        Measure("seen_nats", "hearts on the left: -log p(x | codes)", "nats", decimals=1),
        Measure("unseen_place", "unseen: error of x predicted from the codes", "of 32 places"),
        Measure("seen_place", "hearts on the left: error of x", "of 32 places"),
    ),
    budgets={"smoke": "seconds", "quick": "1 to 3 CPU minutes a row and seed", "paper": "for a GPU"},
    captions={"reconstructions": "Test hearts in the right half, and their reconstructions."},
)
