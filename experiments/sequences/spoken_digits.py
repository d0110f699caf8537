"""spoken-digits: digit and speaker of recordings from few labels, and the same digit by another speaker.

Six speakers say each digit fifty times. Ten recordings of each digit have labels, of digit and speaker alike.
Repetitions 0 to 4 are the test set.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.sequences.speech_items import (
    DIGITS,
    FACTORS,
    SPEAKERS,
    Recordings,
    some_labels,
    spoken_digits,
    true_frames,
)
from experiments.sequences.speech_training import fit_labels, fit_logistic, fit_model
from unknot.data.sets.log_mel import mfcc_means
from unknot.plots.style import INK, new_figure, save

PER_DIGIT = 10  # labels
OURS = "semi-supervised model (ours)"
AGREEMENT = "the same classifier, labels and agreement of views, no decoder"
LABELS = "the same classifier on the labels alone"
LOGISTIC = "logistic regression on mean MFCCs"
OFFSETS = "difference of the speakers' mean frames added to the item"
OPTIMIZATION: dict[str, Any] = {"steps": 1500, "learning_rate": 2e-3, "labeled": 32, "unlabeled": 96}
AGREE: dict[str, Any] = {"agreement": 1.0, "threshold": 0.9}
ROWS: dict[str, dict[str, Any]] = {
    OURS: {
        "method": "model",
        **OPTIMIZATION,
        **AGREE,
        "agreement": 300.0,  # in nats per item, as alpha
        "alpha": 300.0,
        "beta": 1.0,
        "swap": 150.0,
    },
    AGREEMENT: {"method": "labels", **OPTIMIZATION, **AGREE},
    LABELS: {"method": "labels", **OPTIMIZATION, "labeled": 64, "unlabeled": 0},
    LOGISTIC: {"method": "logistic"},
    OFFSETS: {"method": "offsets"},
}
JUDGE: dict[str, Any] = {"steps": 500, "learning_rate": 2e-3, "labeled": 128, "unlabeled": 0}
_JUDGE_SEED = 1000


def cases(tier: Tier) -> list[Case]:
    """All rows; the smoke tier has synthetic items and two optimizer steps."""
    made: list[Case] = []
    for row, settings in ROWS.items():
        shared: dict[str, Any] = {"held_out": "test", "per_digit": PER_DIGIT, "judge_steps": JUDGE["steps"]}
        if tier == "smoke":
            shared = {"held_out": "toy", "per_digit": 5, "judge_steps": 2}
            settings = {**settings, **({"steps": 2} if "steps" in settings else {})}
        made.append({"row": row, **settings, **shared})
    return made


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Errors of both factors on held-out items; for methods that change the speaker, also :func:`conversions`."""
    method = settings["method"]
    train, test = spoken_digits(settings["held_out"], standardize=method != "logistic")
    labeled = some_labels(train, settings["per_digit"], seed)
    if method == "logistic":
        models = fit_logistic(labeled, seed)
        means = mfcc_means(test.x, test.length).numpy()
        return errors({name: torch.from_numpy(models[name].predict(means)) for name in FACTORS}, test)
    if method == "labels":
        return errors(fit_labels(labeled, settings, seed).predict(test.x, test.length), test)
    numbers: Numbers = {}
    if method == "model":
        model = fit_model(labeled, settings, seed)
        numbers = errors(model.classifier.predict(test.x, test.length), test)
        converted = model.converted(test.x, test.length)
        if pictures is not None:
            draw_conversions(test, converted, pictures / "speakers.png")
    else:
        converted = with_offsets(labeled, test)
    return numbers | conversions(train, test, converted, settings["judge_steps"], seed)


def errors(predicted: Mapping[str, Tensor], test: Recordings) -> Numbers:
    """Share of wrong digits and speakers in per cent."""
    return {name: 100 * float((predicted[name] != getattr(test, name)).double().mean()) for name in FACTORS}


def with_offsets(labeled: Recordings, test: Recordings) -> Tensor:
    """Items plus the difference between the mean frames of the new and the true speaker, ``(6, N, T, bands)``."""
    known = true_frames(labeled.length) & (labeled.speaker >= 0)[:, None]
    means = torch.stack([labeled.x[known & (labeled.speaker == k)[:, None]].mean(0) for k in range(SPEAKERS)])
    offsets = means[:, None] - means[test.speaker]  # (6, N, bands)
    return (test.x + offsets[:, :, None]) * true_frames(test.length)[..., None]


def conversions(train: Recordings, test: Recordings, converted: Tensor, steps: int, seed: int) -> Numbers:
    """The classes of items converted to the five other speakers.

    A separate classifier, trained on the labels of all training items, predicts them. Its errors on the real items are
    beside them.
    """
    judge = fit_labels(train, {**JUDGE, "steps": steps}, _JUDGE_SEED + seed)
    predicted = [judge.predict(items, test.length) for items in converted]
    others = test.speaker != torch.arange(SPEAKERS)[:, None]  # (6, N)
    speaker = torch.stack([classes["speaker"] for classes in predicted]) == torch.arange(SPEAKERS)[:, None]
    digit = torch.stack([classes["digit"] for classes in predicted]) == test.digit
    real = errors(judge.predict(test.x, test.length), test)
    return {
        "new_speaker": 100 * float(speaker[others].double().mean()),
        "kept_digit": 100 * float(digit[others].double().mean()),
        "judge_digit": real["digit"],
        "judge_speaker": real["speaker"],
    }


def draw_conversions(test: Recordings, converted: Tensor, path: Path, rows: int = 5) -> None:
    """Spectrograms of held-out items of different digits and speakers, and of each as said by the six speakers."""
    chosen = [
        int(((test.digit == 2 * row % DIGITS) & (test.speaker == row % SPEAKERS)).nonzero()[0, 0])
        for row in range(rows)
    ]
    longest = int(test.length[chosen].max())
    figure = new_figure(11, 1.5 * rows)
    axes = figure.subplots(rows, 1 + SPEAKERS, squeeze=False)
    for row, item in enumerate(chosen):
        images = [test.x[item], *converted[:, item]]
        titles = ["original", *(f"speaker {k}" for k in range(SPEAKERS))]
        length = int(test.length[item])
        for panel, image, title in zip(axes[row], images, titles, strict=True):
            panel.imshow(
                image[:length].T.numpy(), origin="lower", aspect="auto", cmap="magma", vmin=-2.5, vmax=2.5
            )
            panel.set_xlim(-0.5, longest - 0.5)
            panel.set_xticks([])
            panel.set_yticks([])
            if row == 0:
                panel.set_title(title, fontsize=8, color=INK)
        label = f"digit {int(test.digit[item])}, speaker {int(test.speaker[item])}"
        axes[row, 0].set_ylabel(label, fontsize=7, color=INK)
    save(figure, path)


EXPERIMENT = Experiment(
    name="spoken-digits",
    place="Free Spoken Digit Dataset, 100 labels",
    about="Digit and speaker of recordings from ten labels per digit, and the digit as said by another speaker.",
    cases=cases,
    run=run,
    measures=(
        Measure("digit", "digit, test error", "%", "lower", 1),
        Measure("speaker", "speaker, test error", "%", "lower", 1),
        Measure("new_speaker", "converted items classified as the new speaker", "%", "higher", 1),
        Measure("kept_digit", "converted items classified as the old digit", "%", "higher", 1),
        Measure("judge_digit", "digit error of that classifier on real test items", "%", "lower", 1),
        Measure("judge_speaker", "speaker error of that classifier on real test items", "%", "lower", 1),
    ),
    budgets={"smoke": "seconds", "quick": "about 10 CPU minutes per seed", "paper": "the same"},
    captions={
        "speakers": "Log-mel spectrograms of test items and of the same items decoded with each of the six speakers; "
        "the digit is the predicted one and the style is the mean of its posterior."
    },
)
