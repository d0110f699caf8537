"""faces-counterfactuals: faces with another light or person against the real photograph.

Extended Yale B has every person under every light, so counterfactuals have a ground truth. For each photograph of the
test set the model gets another test photograph of the person, and the light (*relit*); and a test photograph of another
person under the light, and the person (*swapped*). The baselines get the person and the light.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.faces.face_baselines import (
    BASELINES,
    FaceClassifier,
    Photographs,
    degrees_between,
    psnr,
    ssim,
)
from experiments.faces.face_pictures import draw_beside_truth
from experiments.faces.faces import FULL, MODEL, SEMI, TRAIN, face_data, seen_by, trained_on_faces
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from experiments.ledger.fit import short
from unknot.data.dataset import Dataset
from unknot.workflow.trained_model import TrainedModel

OURS = "Unknot, S17's graph"
# A product of functions of person and light; a perceptron needs more steps.
DECODER: dict[str, Any] = {"decoder": {"name": "experiments.faces.networks:ProductDecoder", "width": 512}}


def cases(tier: Tier) -> list[Case]:
    """Return ours and three baselines, for both numbers of labels."""
    found: list[Case] = []
    nodes = {**MODEL["nodes"], "x": {**MODEL["nodes"]["x"], **DECODER}}
    for column, number in ((FULL, None), (SEMI, 6)):
        train = {**TRAIN, "labeled_share": 0.5 if number else None}
        if tier == "smoke":
            train = short(train, steps=2, batch_size=16)
        shared = {"data": "toy" if tier == "smoke" else "yale-b", "labels": number, "max_angle": 85}
        # no mirror images: with them the decoder draws symmetric faces
        ours = {"mirror": False, "model": {**MODEL, "nodes": nodes}, "train": train}
        found.append({"row": OURS, "column": column, **shared, **ours})
        found += [{"row": row, "column": column, **shared, "baseline": row} for row in BASELINES]
    return found


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Return measures of both kinds of counterfactuals against every test photograph."""
    data = face_data(settings, seed)
    train, test = data.split("train"), data.split("test")
    truth, classifier = photographs(test), FaceClassifier(photographs(train))
    if "baseline" in settings:
        labeled = seen_by(settings, train, seed).factor("identity").known
        known = photographs(train.subset(labeled.nonzero()[:, 0]))
        faces = BASELINES[settings["baseline"]](known, truth.person, truth.light)
        every = np.arange(len(truth.x))
        return _scores("relit", faces, truth, every, classifier) | _scores(
            "swapped", faces, truth, every, classifier
        )
    model = trained_on_faces(settings, train, seed)
    relit_from, swapped_from = sources(truth, seed)
    relit, swapped = relit_faces(model, test, relit_from), swapped_faces(model, test, swapped_from)
    if pictures is not None:
        draw_beside_truth(truth.x, relit_from, relit, swapped_from, swapped, truth.person, pictures)
    numbers = _scores("relit", relit, truth, np.flatnonzero(relit_from >= 0), classifier)
    numbers |= _scores("swapped", swapped, truth, np.flatnonzero(swapped_from >= 0), classifier)
    return numbers | {
        "reader_identity": 100 * float(np.mean(classifier.person(truth.x) != truth.person)),
        "reader_angle": float(degrees_between(classifier.light(truth.x), truth.light).mean()),
    }


def photographs(data: Dataset) -> Photographs:
    """Return all items of a data set with their true labels, as arrays."""
    x = data.batch(range(len(data))).x[:, 0].numpy()
    return Photographs(x, data.factor("identity").values.numpy(), data.factor("light").values.numpy())


def sources(truth: Photographs, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for each photograph one of the same person under another light, and one of another person under its light.

    The results are random rows of ``truth``, -1 where there is none.
    """
    draw = np.random.default_rng(seed)
    same_person = truth.person[:, None] == truth.person
    same_light = truth.light @ truth.light.T > 1 - 1e-5
    return _one_each(same_person & ~same_light, draw), _one_each(same_light & ~same_person, draw)


def _one_each(allowed: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    order = np.where(allowed, draw.random(allowed.shape), -1.0)
    return np.where(allowed.any(1), order.argmax(1), -1)


def relit_faces(model: TrainedModel, test: Dataset, source: np.ndarray) -> np.ndarray:
    """Return the person of each source under the light of its item: ``(N, H, W)``."""
    x = test.batch(torch.from_numpy(source.clip(0))).x
    return _grey(model.vary(x, "light", [test.factor("light").values]))


def swapped_faces(model: TrainedModel, test: Dataset, source: np.ndarray) -> np.ndarray:
    """Return the person of each item under the light of its source: ``(N, H, W)``."""
    x = test.batch(torch.from_numpy(source.clip(0))).x
    return _grey(model.vary(x, "identity", [test.factor("identity").values]))


def _grey(varied: torch.Tensor) -> np.ndarray:
    return varied[:, 0, 0].clamp(0, 1).numpy()


def _scores(
    name: str, images: np.ndarray, truth: Photographs, rows: np.ndarray, classifier: FaceClassifier
) -> Numbers:
    images, real = images[rows], truth.x[rows]
    return {
        f"{name}_psnr": float(psnr(images, real).mean()),
        f"{name}_ssim": float(ssim(images, real).mean()),
        f"{name}_identity": 100 * float(np.mean(classifier.person(images) != truth.person[rows])),
        f"{name}_angle": float(degrees_between(classifier.light(images), truth.light[rows]).mean()),
    }


def _measures(name: str, title: str) -> tuple[Measure, ...]:
    return (
        Measure(f"{name}_psnr", f"{title}: PSNR to the real photograph", "dB", "higher"),
        Measure(f"{name}_ssim", f"{title}: SSIM to the real photograph", "", "higher", decimals=3),
        Measure(f"{name}_identity", f"{title}: classified as another person", "%"),
        Measure(f"{name}_angle", f"{title}: error of the predicted light", "degrees"),
    )


EXPERIMENT = Experiment(
    name="faces-counterfactuals",
    place="S17 Fig. 4 (pictures), against the truth",
    about=(
        "Faces under another light and other people under the same light, on Extended Yale B, against the real "
        "photograph: 38 people, 45 lights, a fifth of the images of each person are the test set."
    ),
    cases=cases,
    run=run,
    measures=(
        *_measures("relit", "relit"),
        *_measures("swapped", "swapped"),
        Measure("reader_identity", "identity error of the classifier on real photographs", "%"),
        Measure("reader_angle", "lighting error of the classifier on real photographs", "degrees"),
    ),
    budgets={"smoke": "seconds", "quick": "about 5 CPU minutes a seed"},
    captions={
        "beside-truth": (
            "Test photographs of eight people. From top: a photograph; the same person relit; the real photograph; the "
            "person swapped into the photograph below; that photograph, of another person under the same light; and "
            "the difference between relit face and real photograph, gray for zero."
        )
    },
)
