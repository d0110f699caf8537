"""What the pictures of S17 Fig. 2 share, whatever the digits: a model, its pictures, and numbers for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from experiments.digits.analogy_scores import Reader, analogy_numbers, make_reader
from experiments.ledger.baselines import LEAK_MEASURES, leak_of, supervised
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier, Yardstick
from experiments.ledger.fit import error_of, train_quietly
from unknot.metrics.analogies import share_as_intended
from unknot.plots.images import draw_grid, image_grid
from unknot.plots.style import INK, new_figure, save
from unknot.workflow.data_summary import drawn_in_ink
from unknot.workflow.evaluation import predict_dataset
from unknot.workflow.pictures import analogies, class_grid, grid_quantiles, one_of_each
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import TrainedRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# ---- Several grids of images side by side, each with its title: a style grid for every class -------------


def image_panels(
    panels: np.ndarray,
    titles: Sequence[str],
    *,
    across: int = 5,
    columns: Sequence[str] = (),
    rows: Sequence[str] = (),
    labels: tuple[str, str] = ("", ""),
    ink: bool = True,
    title: str = "",
    size: float = 2.2,
) -> Figure:
    """Grids ``(P, R, C, colors, H, W)``, ``across`` of them in a line; ``labels`` name what goes across and down.

    The marks of rows and columns stand at the outer panels alone.
    """
    across = min(across, len(panels))
    down = -(-len(panels) // across)
    figure = new_figure(across * size + 0.5, down * (size + 0.25) + (0.35 if title else 0.1))
    for i, (panel, name) in enumerate(zip(panels, titles, strict=True)):
        axes = figure.add_subplot(down, across, i + 1)
        lowest, leftmost = i + across >= len(panels), i % across == 0
        draw_grid(axes, panel, columns=columns if lowest else (), rows=rows if leftmost else (), ink=ink)
        axes.xaxis.tick_bottom()
        axes.tick_params(length=0, labelsize=6)
        axes.set_title(name, fontsize=9, color=INK)
        if lowest:
            axes.set_xlabel(labels[0], fontsize=8, color=INK)
        if leftmost:
            axes.set_ylabel(labels[1], fontsize=8, color=INK)
    if title:
        figure.suptitle(title, fontsize=10, color=INK)
    return figure


FACTOR, STYLE = "digit", "style"
ALONE = "the same encoder, trained on the labels alone"
_STEPS = 9  # along each side of a style grid
_ITEMS = 1000  # test images whose analogies are read
_SMOKE = {"data": "digits", "labels": 50}
_SMOKE_TRAIN = {"steps": 3, "batch_size": 60}

READ = Measure("read", "analogies read as the intended digit", "%", "higher", decimals=1)
GRID_READ = Measure("grid_read", "grid images read as the intended digit", "%", "higher", decimals=1)
COLORS = (
    Measure("color", "correlation of the mean color with that of the image", "", "higher"),
    Measure("hue", "that of the mean color without its brightness", "", "higher"),
    Measure("background", "that of the background", "", "higher"),
    Measure("ink", "that of the ink", "", "higher"),
    Measure("sides", "analogies whose ink is dark (or light) as the image's", "%", "higher", decimals=1),
)
SPECKS = Measure("specks", "analogies with specks of ink", "%", decimals=1)
OTHERS = (
    Measure("shift", "style moves (1: as far as to another image)"),
    Measure("error", "the encoder's test error", "%"),
    *LEAK_MEASURES,
    Measure("sharpness", "sharpness of the analogies, of that of real images", "%", "higher", decimals=1),
    Measure("reconstruction", "reconstruction", "nats", decimals=1),
    Measure("reader_error", "the reader's test error", "%"),
)
CAPTIONS = {
    "analogies": (
        "Analogies. Left, test images; right, each with its own style and the digit of the column: along a row the "
        "style stays, down a column the digit does."
    ),
    "style-grid": (
        "Style grids. Each panel is one digit; its two style dimensions go through the quantiles of their prior, from "
        "5 to 95 %. The same place in every panel is the same style."
    ),
}


def class_and_style(
    style: int, x: Mapping[str, Any], whiten: bool = False, apart: bool = False
) -> dict[str, dict[str, Any]]:
    """S17's nodes: a digit with labels and so many dimensions of style make x, and are read from it.

    ``whiten``: the style is whitened within each digit. ``apart``: it is read from the image alone, without the digit.
    """
    return {
        FACTOR: {"family": "concrete", "size": 10, "inferred_from": ["x"], "labels": True},
        STYLE: {
            "family": "normal",
            "size": style,
            "inferred_from": ["x"] if apart else ["x", FACTOR],
            **({"encoder": {"name": "mlp", "whiten": FACTOR}} if whiten else {}),
        },
        "x": {"parents": [FACTOR, STYLE], **x},
    }


@dataclass(frozen=True)
class Look:
    """One picture experiment: which data, how many labels, which model, and how long it is trained in each tier."""

    data: str
    labels: int
    model: Mapping[str, Any]
    train: Mapping[str, Any]
    reader: Mapping[str, Any]  # its model and train
    picture: str  # "analogies" or "style-grid"
    beside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # more rows: their model and train
    goals: Mapping[str, float] = field(default_factory=dict)  # by measure, of the model's own row

    @property
    def row(self) -> str:
        return f"Unknot, M = {self.labels}"

    @property
    def in_color(self) -> bool:
        return "color" in self.goals

    def cases(self, tier: Tier) -> list[Case]:
        """The model, and its encoder without it. A smoke run is a few steps on the embedded digits."""
        shared: dict[str, Any] = {"data": self.data, "labels": self.labels}
        reader = {"model": self.reader["model"], "train": dict(self.reader["train"])}
        if tier == "smoke":
            shared |= _SMOKE
            reader["train"] |= _SMOKE_TRAIN
        rows = {self.row: {"model": self.model, "train": self.train}, **self.beside}
        found: list[Case] = []
        for row, settings in rows.items():
            case = {
                "row": row,
                **shared,
                "model": dict(settings["model"]),
                "train": _long(settings["train"], tier),
            }
            case |= {"colors": "ink as in the image"} if self.in_color else {}
            found.append({**case, "reader": reader, "picture": self.picture})
        alone = {**shared, "model": dict(self.model)}
        train = supervised(_long(self.train, tier), shared["labels"])
        return [*found, {"row": ALONE, **alone, "train": train}]

    def experiment(self, name: str, place: str, about: str, quick: str) -> Experiment:
        """The experiment with its measures and captions."""
        grid = self.picture == "style-grid"
        return Experiment(
            name=name,
            place=place,
            about=about,
            cases=self.cases,
            run=run,
            measures=(
                READ,
                *((GRID_READ,) if grid else ()),
                *(COLORS if self.in_color else (SPECKS,)),
                *OTHERS,
            ),
            budgets={"smoke": "seconds", "quick": quick, "paper": "ten times the steps"},
            yardsticks=[Yardstick("goal", {"": goal}, "goal", key) for key, goal in self.goals.items()],
            judged={self.row: "goal"} if self.goals else {},
            captions=CAPTIONS,
        )


def _long(train: Mapping[str, Any], tier: Tier) -> dict[str, Any]:
    """Training settings for as long as a tier trains."""
    if tier == "smoke":
        return {**train, **_SMOKE_TRAIN}
    return {**train, "steps": train["steps"] * (10 if tier == "paper" else 1)}


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train, measure and draw."""
    train = {**settings["train"], "seed": seed}
    labels = {"budget": {FACTOR: settings["labels"]}, "seed": seed}
    trained = train_quietly(Recipe({"name": settings["data"]}, labels, settings["model"], train))
    error = {"error": error_of(trained, FACTOR)}
    if "reader" not in settings:
        return error
    assert trained.test is not None
    reader = make_reader(settings["data"], FACTOR, settings["reader"], seed)
    x = trained.test.batch(range(min(_ITEMS, len(trained.test)))).x
    numbers = analogy_numbers(trained.model, reader, x, STYLE, bool(settings.get("colors")))
    if settings["picture"] == "style-grid":
        numbers |= _style_grid(trained, reader, settings, pictures)
    elif pictures is not None:
        draw_analogies(trained, settings, pictures)
    return numbers | error | leak_of(trained, FACTOR) | {"reader_error": reader.error}


def draw_analogies(trained: TrainedRun, settings: Settings, folder: Path) -> None:
    """One test image of each digit that the encoder names right, in every digit (S17 Fig. 2a)."""
    model, test = trained.model, trained.test
    assert test is not None
    truth = test.factor(FACTOR).values
    right = torch.from_numpy(predict_dataset(model, test).predictions[FACTOR].argmax(-1)) == truth
    x = test.batch(one_of_each(torch.where(right, truth, -1), 10)).x
    node = model.node(FACTOR)
    names = [str(k) for k in range(node.size or 0)]
    images = analogies(model, x, FACTOR, torch.arange(node.size or 0))
    title = f"{settings['data']}, {settings['labels']} labels: a test image, and its style in every digit"
    figure = image_grid(
        images, columns=("image", *names), separate_first=True, ink=drawn_in_ink(x.numpy()), title=title
    )
    save(figure, folder / "analogies.png")


def _style_grid(trained: TrainedRun, reader: Reader, settings: Settings, folder: Path | None) -> Numbers:
    """A grid of styles for every digit (S17 Fig. 2b, S16 Fig. 3), read and drawn."""
    model, node, style = trained.model, trained.model.node(FACTOR), trained.model.node(STYLE)
    grids = [class_grid(model, node, k, style, (0, 1), _STEPS) for k in range(node.size or 0)]
    images = torch.stack([torch.from_numpy(grid).flatten(0, 1) for grid in grids], 1)  # (steps², K, C, H, W)
    if folder is not None:
        marks = [f"{100 * q:.0f}" if i % 4 == 0 else "" for i, q in enumerate(grid_quantiles(_STEPS))]
        figure = image_panels(
            torch.stack([torch.from_numpy(grid) for grid in grids]).numpy(),
            [f"digit {k}" for k in range(len(grids))],
            columns=marks,
            rows=marks,
            labels=("style[1], quantile (%)", "style[0], quantile (%)"),
            ink=drawn_in_ink(trained.train.batch(range(64)).x.numpy()),
            title=f"{settings['data']}, {settings['labels']} labels: two dimensions of style, for every digit",
        )
        save(
            figure, folder / "style-grid.png", dpi=160 if images.shape[2] == 1 else 90
        )  # color takes three times as much
    return {"grid_read": 100 * share_as_intended(reader.read(images))}
