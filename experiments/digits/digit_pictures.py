"""Pictures of S17 Fig. 2 for any digits: a model, its analogies or style grid, and measures of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from experiments.digits.analogy_scores import Classifier, analogy_numbers, fitted_classifier
from experiments.ledger.baselines import LEAK_MEASURES, leak_of, supervised
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier, Yardstick
from experiments.ledger.fit import error_of, recipe_of, short, train_quietly
from unknot.metrics.analogies import share_as_intended
from unknot.plots.images import draw_grid, image_grid
from unknot.plots.style import INK, new_figure, save
from unknot.workflow.data_summary import drawn_in_ink
from unknot.workflow.evaluation import predict_dataset
from unknot.workflow.pictures import analogies, class_grid, grid_quantiles, one_of_each
from unknot.workflow.run import TrainedRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FACTOR, STYLE = "digit", "style"
ALONE = "the same encoder, trained on the labels alone"
S17_ROW = "S17's model"
_STEPS = 9  # along each side of a style grid
_ITEMS = 1000  # test images of the analogies
_SMOKE = {"data": "digits", "labels": 50}

READ = Measure("read", "analogies classified as the intended digit", "%", "higher", decimals=1)
GRID_READ = Measure("grid_read", "grid images classified as the intended digit", "%", "higher", decimals=1)
COLORS = (
    Measure("color", "correlation of the mean color with that of the image", "", "higher"),
    Measure("hue", "the same without brightness", "", "higher"),
    Measure("background", "the same of the background", "", "higher"),
    Measure("ink", "the same of the ink", "", "higher"),
    Measure("sides", "analogies with dark (or light) ink as in the image", "%", "higher", decimals=1),
)
SPECKS = Measure("specks", "analogies with specks of ink", "%", decimals=1)
OTHERS = (
    Measure("shift", "distance of the styles (1: that of another image)"),
    Measure("error", "test error of the encoder", "%"),
    *LEAK_MEASURES,
    Measure("sharpness", "sharpness of the analogies relative to real images", "%", "higher", decimals=1),
    Measure("reconstruction", "reconstruction", "nats", decimals=1),
    Measure("reader_error", "test error of the independent classifier", "%"),
)
CAPTIONS = {
    "analogies": (
        "Analogies. First column: test images; column rec., in pictures of newer code: their reconstructions. Others: "
        "the digit of the column in the style of the row."
    ),
    "style-grid": (
        "Style grids. One panel for each digit; its two style dimensions go through the quantiles of their prior from "
        "5 to 95 %. The same position in every panel is the same style."
    ),
}


def class_and_style(style: int, x: Mapping[str, Any], whiten: bool = False) -> dict[str, dict[str, Any]]:
    """Return S17's nodes: a digit with labels and a style of ``style`` dimensions generate x.

    ``whiten``: the means of the style are whitened within each digit.
    """
    return {
        FACTOR: {"family": "concrete", "size": 10, "inferred_from": ["x"], "labels": True},
        STYLE: {
            "family": "normal",
            "size": style,
            "inferred_from": ["x", FACTOR],
            **({"encoder": {"name": "mlp", "whiten": FACTOR}} if whiten else {}),
        },
        "x": {"parents": [FACTOR, STYLE], **x},
    }


@dataclass(frozen=True)
class Look:
    """A picture experiment.

    Attributes
    ----------
    data, labels, model, train
        The data set, the number of labels, the model and its training settings.
    classifier
        Model and training settings of the independent classifier.
    picture : {"analogies", "style-grid"}
    more_rows
        Further rows: their model and training settings, and their number of labels if it is another.
    goals
        By measure, for the first row.
    """

    data: str
    labels: int
    model: Mapping[str, Any]
    train: Mapping[str, Any]
    classifier: Mapping[str, Any]
    picture: str
    more_rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    goals: Mapping[str, float] = field(default_factory=dict)

    @property
    def row(self) -> str:
        return f"Unknot, M = {self.labels}"

    @property
    def in_color(self) -> bool:
        return "color" in self.goals

    def cases(self, tier: Tier) -> list[Case]:
        """Return a case for each row, and one for the encoder on labels alone."""
        shared: dict[str, Any] = {"data": self.data, "labels": self.labels}
        classifier = dict(self.classifier)
        if tier == "smoke":
            shared |= _SMOKE
            classifier["train"] = short(classifier["train"])
        colors = {"colors": True} if self.in_color else {}
        more = {**colors, "classifier": classifier, "picture": self.picture}
        rows = {self.row: {"model": self.model, "train": self.train}, **self.more_rows}
        cases: list[Case] = []
        for row, s in rows.items():
            chosen = {"model": s["model"], "train": _training(s["train"], tier)}
            cases.append({"row": row, **shared, **_labels(s, tier), **chosen, **more})
        train = supervised(_training(self.train, tier), shared["labels"])
        return [*cases, {"row": ALONE, **shared, "model": self.model, "train": train}]

    def experiment(self, name: str, place: str, about: str, quick: str) -> Experiment:
        """Return the experiment with its measures and captions."""
        grid = (GRID_READ,) if self.picture == "style-grid" else ()
        return Experiment(
            name=name,
            place=place,
            about=about,
            cases=self.cases,
            run=run,
            measures=(READ, *grid, *(COLORS if self.in_color else (SPECKS,)), *OTHERS),
            budgets={"smoke": "seconds", "quick": quick},
            yardsticks=[Yardstick("goal", {"": goal}, "goal", key) for key, goal in self.goals.items()],
            judged={self.row: "goal"} if self.goals else {},
            captions=CAPTIONS,
        )


def _labels(row: Mapping[str, Any], tier: Tier) -> dict[str, Any]:
    return {"labels": row["labels"]} if "labels" in row and tier != "smoke" else {}


def _training(train: Mapping[str, Any], tier: Tier) -> dict[str, Any]:
    return short(train) if tier == "smoke" else dict(train)


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Train, measure and draw."""
    trained = train_quietly(recipe_of(settings, seed, FACTOR))
    error = {"error": error_of(trained, FACTOR)}
    if "classifier" not in settings:
        return error
    assert trained.test is not None
    classifier = fitted_classifier(settings["data"], FACTOR, settings["classifier"], seed)
    x = trained.test.batch(range(min(_ITEMS, len(trained.test)))).x
    numbers = analogy_numbers(trained.model, classifier, x, STYLE, settings.get("colors", False))
    if settings["picture"] == "style-grid":
        numbers |= _style_grid(trained, classifier, settings, pictures)
    elif pictures is not None:
        draw_analogies(trained, settings, pictures)
    return numbers | error | leak_of(trained, FACTOR) | {"reader_error": classifier.error}


def draw_analogies(trained: TrainedRun, settings: Settings, folder: Path) -> None:
    """Draw one correctly classified test image of each digit, and its style as every digit (S17 Fig. 2a)."""
    model, test = trained.model, trained.test
    assert test is not None
    truth = test.factor(FACTOR).values
    right = torch.from_numpy(predict_dataset(model, test).predictions[FACTOR].argmax(-1)) == truth
    x = test.batch(one_of_each(torch.where(right, truth, -1), 10)).x
    node = model.node(FACTOR)
    names = [str(k) for k in range(node.size or 0)]
    varied = analogies(model, x, FACTOR, torch.arange(node.size or 0))  # (N, 1 + K, C, H, W), the image first
    images = np.concatenate([varied[:, :1], model.reconstruct(x).numpy()[:, None], varied[:, 1:]], 1)
    title = f"{settings['data']}, {settings['labels']} labels: a test image, and its style as every digit"
    figure = image_grid(
        images,
        columns=("image", "rec.", *names),
        separate_first=True,
        ink=drawn_in_ink(x.numpy()),
        title=title,
    )
    save(figure, folder / "analogies.png")


def _style_grid(
    trained: TrainedRun, classifier: Classifier, settings: Settings, folder: Path | None
) -> Numbers:
    """Classify and draw a grid of styles for every digit (S17 Fig. 2b, S16 Fig. 3)."""
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
    return {"grid_read": 100 * share_as_intended(classifier.predict(images))}


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
    """Draw grids ``(P, R, C, colors, H, W)``, ``across`` of them in a line; ``labels`` are those of both axes.

    Only the outer panels have labels.
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
