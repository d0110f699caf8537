"""zero-shot: thick sevens and narrow zeros that are not in the training set (E19 Fig. 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy

from experiments.digits.class_discovery import E19, plain, rewarded
from experiments.digits.strokes import stroke, width
from experiments.ledger.codes import CLASS, STYLE
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import fitted, short
from unknot.data import hold_out, load
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.plots.images import image_grid
from unknot.plots.style import COLORS, INK, new_figure, quiet, save
from unknot.workflow.trained_model import TrainedModel

STROKE, WIDTH = "stroke", "width"
_CHUNK = 5000


def measured(dataset: Dataset) -> Dataset:
    """Return the data set with the further factors ``stroke`` and ``width``."""
    blocks = [
        dataset.batch(torch.arange(start, min(start + _CHUNK, len(dataset)))).x
        for start in range(0, len(dataset), _CHUNK)
    ]
    found = {
        name: torch.cat([rule(block) for block in blocks])
        for name, rule in ((STROKE, stroke), (WIDTH, width))
    }
    factors = {name: Factor(name, "continuous", values.float()) for name, values in found.items()}
    return Dataset(
        dataset.name, dataset.x, dataset.ids, {**dataset.factors, **factors}, dataset.splits, dataset.licence
    )


STEPS = 1500
SHARE = 0.3  # of the training images of a digit that are held out
FITTED_ON = 10_000  # training images of the linear regression of a feature on the codes


@dataclass(frozen=True)
class Unseen:
    """A held-out combination: the thickest (or narrowest) images of a digit."""

    title: str
    digit: int
    feature: str
    largest: bool
    rule: Callable[[Tensor], Tensor]

    @property
    def key(self) -> str:
        return self.title.replace(" ", "_")

    def combination(self, train: Dataset) -> Mapping[str, Any]:
        """Return digit and range of the feature, from a quantile of the training images on."""
        values = train.factors[self.feature].values[train.factors["digit"].values == self.digit]
        limit = float(values.quantile(1 - SHARE if self.largest else SHARE))
        return {"digit": self.digit, self.feature: (limit, None) if self.largest else (None, limit)}


UNSEEN = (Unseen("thick sevens", 7, STROKE, True, stroke), Unseen("narrow zeros", 0, WIDTH, False, width))
SAW = "trained with them"
MEAN = "mean of the digit's training images"
MODELS = {
    "HFVAE, class rewarded, β = 4, γ = 3": rewarded(E19, beta=4.0, gamma=3.0),
    "HFVAE, class rewarded, β = 12, γ = 4": rewarded(E19),
    "VAE": plain(name="vae"),
}


def cases(tier: Tier) -> list[Case]:
    """Return each model, trained without and with the combinations, and the mean as a baseline."""
    steps = {"smoke": 4, "quick": STEPS}[tier]
    found: list[Case] = []
    for row, settings in MODELS.items():
        train = {**settings["train"], "steps": steps}
        train = short(train, steps) if tier == "smoke" else train
        for saw in (False, True):
            title = f"{row}, {SAW}" if saw else row
            found.append(
                {"row": title, **_data(tier), "saw": saw, "model": settings["model"], "train": train}
            )
    return [*found, {"row": MEAN, **_data(tier)}]


def _data(tier: Tier) -> dict[str, Any]:
    return {"data": "digits" if tier == "smoke" else "mnist"}


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train, and measure on the test images of the held-out combinations."""
    whole = measured(load(settings["data"]))
    train, test = whole.split("train"), whole.split("test")
    combinations = [one.combination(train) for one in UNSEEN]
    seen, _ = hold_out(train, *combinations)
    unseen = [hold_out(test, combination)[1] for combination in combinations]
    if "model" not in settings:
        return _mean_numbers(seen, unseen)
    items = replace(train if settings["saw"] else seen, factors={})
    model = fitted(items, seed, settings["train"], settings["model"])
    numbers: Numbers = {}
    for one, held in zip(UNSEEN, unseen, strict=True):
        numbers |= _numbers(model, one, seen, held)
    if pictures is not None:
        _draw(model, seen, unseen, pictures)
    return numbers


def _mean_numbers(seen: Dataset, unseen: list[Dataset]) -> Numbers:
    """Return the error of predicting the mean of the digit's training images."""
    numbers: Numbers = {}
    for one, held in zip(UNSEEN, unseen, strict=True):
        same = seen.factors[one.feature].values[seen.factors["digit"].values == one.digit]
        numbers[f"{one.key}_code"] = _rmse(same.mean().expand(len(held)), held.factors[one.feature].values)
    return numbers


def _numbers(model: TrainedModel, one: Unseen, seen: Dataset, held: Dataset) -> Numbers:
    x = held.batch(torch.arange(len(held))).x
    true = held.factors[one.feature].values
    reconstructed = model.reconstruct(x)
    nats = binary_cross_entropy(reconstructed, x, reduction="none").flatten(1).sum(1)
    digit = seen.subset((seen.factors["digit"].values == one.digit).nonzero()[:1000, 0])
    usual = _classes(model, digit.batch(torch.arange(len(digit))).x).mode().values
    return {
        f"{one.key}_nats": float(nats.mean()),
        f"{one.key}_code": _rmse(_regression(model, one, seen)(x), true),
        f"{one.key}_drawn": _rmse(one.rule(reconstructed), true),
        f"{one.key}_class": 100 * float((_classes(model, x) == usual).float().mean()),
    }


def _regression(model: TrainedModel, one: Unseen, seen: Dataset) -> Callable[[Tensor], Tensor]:
    """Return a linear regression of the feature on class and style, fitted on training images."""
    rows = torch.arange(min(FITTED_ON, len(seen)))
    codes = _codes(model, seen.batch(rows).x)
    weights = torch.linalg.lstsq(
        codes.double(), seen.factors[one.feature].values[rows].double()[:, None]
    ).solution

    return lambda x: (_codes(model, x) @ weights)[:, 0].float()


def _codes(model: TrainedModel, x: Tensor) -> Tensor:
    """Return class probabilities and means of the style, (N, K + D); the former sum to one, so there is a constant."""
    found = model.predict(x).predictions
    return torch.cat([found[CLASS], found[STYLE]], -1).double()


def _classes(model: TrainedModel, x: Tensor) -> Tensor:
    return model.predict(x).predictions[CLASS].argmax(-1)


def _rmse(found: Tensor, true: Tensor) -> float:
    return float((found - true).square().mean().sqrt())


def _draw(model: TrainedModel, seen: Dataset, unseen: list[Dataset], folder: Path) -> None:
    """Draw unseen images and their reconstructions, and histograms of the feature, measured and predicted."""
    strips = []
    figure = new_figure(7.0, 2.6)
    for one, held, axes in zip(UNSEEN, unseen, figure.subplots(1, 2), strict=True):
        x = held.batch(torch.arange(len(held))).x
        shown = x[:12]
        strips += [shown, model.reconstruct(shown)]
        same = seen.subset((seen.factors["digit"].values == one.digit).nonzero()[:1000, 0])
        read = _regression(model, one, seen)
        drawn = {
            "training images, predicted from the codes": read(same.batch(torch.arange(len(same))).x),
            "unseen, predicted from the codes": read(x),
            "unseen, measured": held.factors[one.feature].values,
        }
        limits = np.histogram_bin_edges(torch.cat(list(drawn.values())).numpy(), 30)
        for color, (name, values) in zip((COLORS[0], COLORS[1], INK), drawn.items(), strict=True):
            axes.hist(values.numpy(), limits, density=True, histtype="step", color=color, label=name)
        axes.set_title(one.title, fontsize=9, color=INK)
        axes.set_xlabel(f"{one.feature} in pixels", fontsize=8, color=INK)
        axes.set_yticks([])
        quiet(axes)
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=7
    )
    save(figure, folder / "features.png")
    columns = min(len(strip) for strip in strips)
    grid = torch.stack([strip[:columns] for strip in strips]).numpy()
    save(image_grid(grid, rows=["unseen", "reconstruction"] * 2), folder / "reconstructions.png")


def _measures() -> tuple[Measure, ...]:
    found: list[Measure] = []
    for one in UNSEEN:
        found += [
            Measure(f"{one.key}_nats", f"{one.title}: -log p(x | class, style)", "nats", decimals=1),
            Measure(
                f"{one.key}_code", f"{one.title}: error of the {one.feature} predicted from the codes", "px"
            ),
            Measure(
                f"{one.key}_drawn", f"{one.title}: error of the {one.feature} of the reconstruction", "px"
            ),
            Measure(
                f"{one.key}_class", f"{one.title}: in the class of the training images", "%", "higher", 1
            ),
        ]
    return tuple(found)


EXPERIMENT = Experiment(
    name="zero-shot",
    place="E19 Fig. 7",
    about="MNIST without thick sevens and narrow zeros: codes and reconstructions of these test images.",
    cases=cases,
    run=run,
    measures=_measures(),
    budgets={"smoke": "seconds", "quick": "1 CPU minute a row and seed"},
    captions={
        "reconstructions": "Test images of combinations that are not in the training set, and their reconstructions.",
        "features": "The feature of a digit's images, measured in the pixels and predicted from the codes.",
    },
)
