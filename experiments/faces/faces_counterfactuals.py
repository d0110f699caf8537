"""faces-counterfactuals: relit and swapped faces beside the real photograph of that person under that light.

Extended Yale B has every person under every light, so a counterfactual can be looked up. Each photograph of the test
split is the truth once: *relit*, the model gets another test photograph of that person and the light; *swapped*, a test
photograph of somebody else under that light and the person. What the rivals get is who and which light, without error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.digits.image_likeness import psnr, ssim
from experiments.faces.face_baselines import RIVALS, Photographs
from experiments.faces.face_pictures import draw_beside_truth
from experiments.faces.face_readers import FaceReader, degrees_between
from experiments.faces.faces import FULL, MODEL, SEMI, TRAIN, face_data, seen_by, trained_on_faces
from experiments.ledger.experiment import Case, Experiment, Measure, Numbers, Settings, Tier
from unknot.data.dataset import Dataset
from unknot.workflow.trained_model import TrainedModel

OURS = "Unknot, S17's graph"
# The person times the light; a perceptron of both takes longer.
DECODER: dict[str, Any] = {"decoder": {"name": "experiments.faces.product:ProductDecoder", "width": 512}}


def cases(tier: Tier) -> list[Case]:
    """Ours and three rivals, for both amounts of labels."""
    found: list[Case] = []
    nodes = {**MODEL["nodes"], "x": {**MODEL["nodes"]["x"], **DECODER}}
    for column, number in ((FULL, None), (SEMI, 6)):
        train = {**TRAIN, "labeled_share": 0.5 if number else None}
        if tier == "smoke":
            train |= {"steps": 2, "batch_size": 16}
        elif tier == "paper":
            train["steps"] *= 5
        shared = {"data": "toy" if tier == "smoke" else "yale-b", "labels": number, "max_angle": 85}
        # no mirror images: a generator that is not told which is which draws everybody symmetric
        ours = {"mirror": False, "model": {**MODEL, "nodes": nodes}, "train": train}
        found.append({"row": OURS, "column": column, **shared, **ours})
        found += [{"row": row, "column": column, **shared, "rival": row} for row in RIVALS]
    return found


def run(settings: Settings, seed: int, pictures: Path | None) -> Numbers:
    """Both kinds of counterfactual of every test photograph, against the photograph."""
    data = face_data(settings, seed)
    train, test = data.split("train"), data.split("test")
    truth, reader = photographs(test), FaceReader(photographs(train))
    if "rival" in settings:
        labeled = seen_by(settings, train, seed).factor("identity").known
        known = photographs(train.subset(labeled.nonzero()[:, 0]))
        made = RIVALS[settings["rival"]](known, truth.person, truth.light)
        every = np.arange(len(truth.x))
        return _scores("relit", made, truth, every, reader) | _scores("swapped", made, truth, every, reader)
    model = trained_on_faces(settings, train, seed)
    relit_from, swapped_from = sources(truth, seed)
    relit, swapped = relit_faces(model, test, relit_from), swapped_faces(model, test, swapped_from)
    if pictures is not None:
        draw_beside_truth(truth.x, relit_from, relit, swapped_from, swapped, truth.person, pictures)
    numbers = _scores("relit", relit, truth, np.flatnonzero(relit_from >= 0), reader)
    numbers |= _scores("swapped", swapped, truth, np.flatnonzero(swapped_from >= 0), reader)
    return numbers | {
        "reader_identity": 100 * float(np.mean(reader.person(truth.x) != truth.person)),
        "reader_angle": float(degrees_between(reader.light(truth.x), truth.light).mean()),
    }


def photographs(data: Dataset) -> Photographs:
    """All items of a data set with their true labels, as arrays."""
    x = data.batch(range(len(data))).x[:, 0].numpy()
    return Photographs(x, data.factor("identity").values.numpy(), data.factor("light").values.numpy())


def sources(truth: Photographs, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """For each photograph one of the same person under another light, and one of somebody else under the same light.

    Rows of ``truth``, drawn at random; -1 where there is none.
    """
    draw = np.random.default_rng(seed)
    same_person = truth.person[:, None] == truth.person
    same_light = truth.light @ truth.light.T > 1 - 1e-5
    return _one_each(same_person & ~same_light, draw), _one_each(same_light & ~same_person, draw)


def _one_each(allowed: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    order = np.where(allowed, draw.random(allowed.shape), -1.0)
    return np.where(allowed.any(1), order.argmax(1), -1)


def relit_faces(model: TrainedModel, test: Dataset, source: np.ndarray) -> np.ndarray:
    """The person of each source under the light of the item that it is the source of: ``(N, H, W)``."""
    x = test.batch(torch.from_numpy(source.clip(0))).x
    return _grey(model.vary(x, "light", [test.factor("light").values]))


def swapped_faces(model: TrainedModel, test: Dataset, source: np.ndarray) -> np.ndarray:
    """The person of each item under the light of its source: ``(N, H, W)``."""
    x = test.batch(torch.from_numpy(source.clip(0))).x
    return _grey(model.vary(x, "identity", [test.factor("identity").values]))


def _grey(varied: torch.Tensor) -> np.ndarray:
    return varied[:, 0, 0].clamp(0, 1).numpy()


def _scores(name: str, made: np.ndarray, truth: Photographs, rows: np.ndarray, reader: FaceReader) -> Numbers:
    made, real = made[rows], truth.x[rows]
    return {
        f"{name}_psnr": float(psnr(made, real).mean()),
        f"{name}_ssim": float(ssim(made, real).mean()),
        f"{name}_identity": 100 * float(np.mean(reader.person(made) != truth.person[rows])),
        f"{name}_angle": float(degrees_between(reader.light(made), truth.light[rows]).mean()),
    }


def _measures(name: str, title: str) -> tuple[Measure, ...]:
    return (
        Measure(f"{name}_psnr", f"{title}: PSNR to the real photograph", "dB", "higher"),
        Measure(f"{name}_ssim", f"{title}: SSIM to the real photograph", "", "higher", decimals=3),
        Measure(f"{name}_identity", f"{title}: read as somebody else", "%"),
        Measure(f"{name}_angle", f"{title}: angle of the light as read", "degrees"),
    )


EXPERIMENT = Experiment(
    name="faces-counterfactuals",
    place="S17 Fig. 4 (pictures), against the truth",
    about=(
        "Faces under another light and other people under the same light, on Extended Yale B, beside the real "
        "photograph: 38 people, 45 lights, a fifth of each person's images for the test."
    ),
    cases=cases,
    run=run,
    measures=(
        *_measures("relit", "relit"),
        *_measures("swapped", "swapped"),
        Measure("reader_identity", "the reader's identity error on real photographs", "%"),
        Measure("reader_angle", "the reader's lighting error on real photographs", "degrees"),
    ),
    budgets={"smoke": "seconds", "quick": "about 5 CPU minutes a seed", "paper": "five times the steps"},
    captions={
        "beside-truth": (
            "Test photographs of eight people. From above: a photograph; its person under the light of the truth; the "
            "truth, a real photograph that the model never saw; the person of the truth put into the photograph below; "
            "that photograph, of somebody else under the same light; and the difference of relit face and truth, gray "
            "where there is none."
        )
    },
)
