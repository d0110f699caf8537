"""Training of the networks for spoken digits, and logistic regression beside them.

Every function gets items whose unknown labels are -1; the classes behind these are not among its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy, one_hot

import unknot
from experiments.sequences.speech_items import FACTORS, Recordings, blanked, stretched, true_frames
from experiments.sequences.speech_models import Classifier, SpeechModel
from unknot.core.trace import Trace
from unknot.data.sets.log_mel import mfcc_means
from unknot.objectives import semi_supervised


def fit_labels(train: Recordings, settings: Mapping[str, Any], seed: int) -> Classifier:
    """A classifier trained on random views of the labeled items; with ``agreement`` also of the unlabeled ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Classifier()
        batches = Batches(train, settings["labeled"], settings["unlabeled"])
        optimizer, schedule = optimization(model, settings)
        for step in range(settings["steps"]):
            model.train()
            batch = train.rows(batches.draw())
            view, length = stretched(batch.x, batch.length)
            logits = model(blanked(view, length), length)
            loss = torch.stack(
                [cross_entropy(logits[name], getattr(batch, name), ignore_index=-1) for name in FACTORS]
            ).sum()
            if settings.get("agreement"):
                weight = settings["agreement"] * ramp(step, settings)
                loss = loss + weight * disagreement(model, logits, batch, settings["threshold"])
            take_step(optimizer, schedule, loss)
    return model


def fit_model(train: Recordings, settings: Mapping[str, Any], seed: int) -> SpeechModel:
    """The generative model from labeled and unlabeled items.

    The loss is the semi-supervised objective, plus ``agreement`` times :func:`disagreement`, plus ``swap`` times
    :func:`swap_loss`; both weights rise over the first steps.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SpeechModel()
        batches = Batches(train, settings["labeled"], settings["unlabeled"])
        optimizer, schedule = optimization(model, settings)
        for step in range(settings["steps"]):
            model.train()
            batch = train.rows(batches.draw())
            view, length = stretched(batch.x, batch.length)
            q = unknot.trace(model.encode, blanked(view, length), length, batch.digit, batch.speaker)
            p = unknot.trace(model.decode, view, length, q)
            with unknot.validation(False):
                terms = semi_supervised(
                    q, p, alpha=settings["alpha"], beta={"style": settings["beta"]}, relaxed_kl="discrete"
                )
            logits = {name: q[name].dist.logits for name in FACTORS}
            agreement = disagreement(model.classifier, logits, batch, settings["threshold"])
            weighted = settings["agreement"] * agreement + settings["swap"] * swap_loss(model, q, length)
            take_step(optimizer, schedule, terms.loss + ramp(step, settings) * weighted)
    return model


def disagreement(model: Classifier, logits: dict[str, Tensor], batch: Recordings, threshold: float) -> Tensor:
    """Cross-entropy of the logits of a view at the classes predicted for the item itself (Sohn et al. 2020).

    Only unlabeled items count, and only where the predicted class has at least the probability ``threshold``.
    """
    model.eval()
    with torch.no_grad():
        originals = model(batch.x, batch.length)
    model.train()
    losses = []
    for name in FACTORS:
        probability, predicted = originals[name].softmax(-1).max(-1)
        counts = (probability >= threshold) & (getattr(batch, name) < 0)
        losses.append((cross_entropy(logits[name], predicted, reduction="none") * counts).mean())
    return torch.stack(losses).sum()


def swap_loss(model: SpeechModel, q: Trace, length: Tensor) -> Tensor:
    """Cross-entropy of items decoded with the speaker of another item, at that speaker and at their own digit.

    The model's classifier scores the decoded items with its parameters held fixed. The loss trains the decoder, and
    the encoder through the style.
    """
    digits, speakers = (
        one_hot(q[name].value.argmax(-1), q[name].value.shape[-1]).float() for name in FACTORS
    )
    order = torch.randperm(len(length))
    frames = model.frames(digits, speakers[order], q["style"].value) * true_frames(length)[..., None]
    fixed = {name: parameter.detach() for name, parameter in model.classifier.named_parameters()}
    logits = functional_call(model.classifier, fixed, (frames, length))
    targets = {"digit": digits.argmax(-1), "speaker": speakers[order].argmax(-1)}
    return torch.stack([cross_entropy(logits[name], targets[name]) for name in FACTORS]).sum()


class Batches:
    """Random batches with fixed numbers of labeled and unlabeled items."""

    def __init__(self, train: Recordings, labeled: int, unlabeled: int) -> None:
        known = train.digit >= 0
        self.pools = [
            (rows, count)
            for rows, count in ((known.nonzero()[:, 0], labeled), ((~known).nonzero()[:, 0], unlabeled))
            if len(rows) and count
        ]

    def draw(self) -> Tensor:
        """Rows of one batch."""
        return torch.cat([rows[torch.randperm(len(rows))[:count]] for rows, count in self.pools])


def optimization(
    model: nn.Module, settings: Mapping[str, Any]
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """AdamW with a learning rate that falls to zero as a half cosine."""
    optimizer = torch.optim.AdamW(model.parameters(), settings["learning_rate"], weight_decay=1e-2)
    return optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, settings["steps"]))


def take_step(
    optimizer: torch.optim.Optimizer, schedule: torch.optim.lr_scheduler.LRScheduler, loss: Tensor
) -> None:
    """One optimizer step."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()


def ramp(step: int, settings: Mapping[str, Any]) -> float:
    """From 0 to 1 over the first fifth of the steps."""
    return min(1.0, 5 * step / max(1, settings["steps"]))


def fit_logistic(train: Recordings, seed: int) -> dict[str, Any]:
    """Logistic regressions on the mean MFCCs of the labeled items, by factor; ``train`` is not standardized."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    labeled = train.rows(train.digit >= 0)
    x = mfcc_means(labeled.x, labeled.length).numpy()
    return {
        name: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000, random_state=seed)).fit(
            x, getattr(labeled, name).numpy()
        )
        for name in FACTORS
    }
