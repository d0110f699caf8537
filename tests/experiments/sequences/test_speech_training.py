"""Training for spoken digits: hidden labels have no influence, and each loss trains what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

import unknot
from experiments.sequences.speech_items import DIGITS, SPEAKERS, Recordings, some_labels, spoken_digits
from experiments.sequences.speech_models import Classifier, SpeechModel
from experiments.sequences.speech_training import (
    Batches,
    disagreement,
    fit_labels,
    fit_logistic,
    fit_model,
    swap_loss,
)
from experiments.sequences.spoken_digits import AGREEMENT, LABELS, OURS, ROWS

STEPS = 3


def corrupted(train: Recordings, known: torch.Tensor) -> Recordings:
    """Wrong labels on all items without labels; the order in which labeled items are chosen must not change."""
    after = torch.randperm(
        len(train), generator=torch.Generator().manual_seed(0)
    )  # the order of some_labels, seed 0
    last = int(known[after].nonzero()[-1])
    free = torch.zeros_like(known)
    free[after[last + 1 :]] = True
    assert free.sum() > 20
    return replace(
        train,
        digit=torch.where(free, (train.digit + 3) % DIGITS, train.digit),
        speaker=torch.where(known, train.speaker, (train.speaker + 1) % SPEAKERS),
    )


@pytest.fixture
def both() -> tuple[Recordings, Recordings]:
    """Training items with few labels, and the same where the labels were wrong before they were hidden."""
    train = spoken_digits("toy")[0]
    labeled = some_labels(train, 5, 0)
    return labeled, some_labels(corrupted(train, labeled.digit >= 0), 5, 0)


def trained(row: str, labeled: Recordings) -> nn.Module:
    settings: Mapping[str, Any] = {**ROWS[row], "steps": STEPS}
    fit = fit_model if settings["method"] == "model" else fit_labels
    return fit(labeled, settings, 0)


@pytest.mark.parametrize("row", [OURS, AGREEMENT, LABELS])
def test_hidden_labels_leave_training_bit_identical(row: str, both: tuple[Recordings, Recordings]) -> None:
    first, second = (trained(row, labeled).state_dict() for labeled in both)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_hidden_labels_leave_logistic_regression_identical(both: tuple[Recordings, Recordings]) -> None:
    first, second = (fit_logistic(labeled, 0) for labeled in both)
    for name in first:
        assert (first[name][-1].coef_ == second[name][-1].coef_).all()


@pytest.mark.parametrize("row", [OURS, AGREEMENT, LABELS])
def test_given_labels_have_an_influence(row: str, both: tuple[Recordings, Recordings]) -> None:
    labeled = both[0]
    wrong = replace(labeled, speaker=torch.where(labeled.speaker >= 0, 0, -1))
    first, second = (trained(row, items).state_dict() for items in (labeled, wrong))
    assert any(not torch.equal(first[name], second[name]) for name in first)


def test_batches_have_the_stated_numbers_of_labeled_and_unlabeled_items(
    both: tuple[Recordings, Recordings],
) -> None:
    labeled = both[0]
    known = labeled.digit[Batches(labeled, 8, 20).draw()] >= 0
    assert (int(known.sum()), int((~known).sum())) == (8, 20)
    assert (labeled.digit[Batches(labeled, 8, 0).draw()] >= 0).all()


@torch.no_grad()
def test_agreement_counts_sure_predictions_of_unlabeled_items() -> None:
    """Against a loop over items, with the middle of the predicted probabilities as the threshold."""
    torch.manual_seed(0)
    model = Classifier(width=16, dropout=0.0)
    items = some_labels(spoken_digits("toy")[1], 1, 0)
    logits = {name: value.flip(0) for name, value in model(items.x, items.length).items()}
    threshold = float(model(items.x, items.length)["digit"].softmax(-1).amax(-1).median())
    expected, counted = 0.0, 0
    for name, given in (("digit", items.digit), ("speaker", items.speaker)):
        probabilities = model(items.x, items.length)[name].softmax(-1)
        for row in range(len(items)):
            predicted = int(probabilities[row].argmax())
            if given[row] < 0 and probabilities[row, predicted] >= threshold:
                expected -= float(logits[name][row].log_softmax(-1)[predicted]) / len(items)
                counted += 1
    assert 0 < counted < 2 * len(items)
    assert float(disagreement(model, logits, items, threshold)) == pytest.approx(expected, rel=1e-4)


def test_swapped_items_do_not_train_the_classifier_that_scores_them() -> None:
    """With labels the style does not depend on the heads, so that only the scoring could train these."""
    torch.manual_seed(0)
    model = SpeechModel(width=16)
    items = spoken_digits("toy")[1]
    q = unknot.trace(model.encode, items.x, items.length, items.digit, items.speaker)
    swap_loss(model, q, items.length).backward()
    heads = list(model.classifier.heads.parameters())
    assert not any(parameter.grad is not None and parameter.grad.any() for parameter in heads)
    for parameter in [*model.upsampling.parameters(), *model.style.parameters()]:
        assert parameter.grad is not None
        assert parameter.grad.any()


def test_training_learns_the_toy_classes() -> None:
    train, test = spoken_digits("toy")
    model = fit_labels(some_labels(train, 10, 0), {**ROWS[LABELS], "steps": 40}, 0)
    assert (model.predict(test.x, test.length)["digit"] == test.digit).double().mean() > 0.5
