"""Predictor: one factor, predicted from features and a model's own prediction; Predictors: all factors of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unknot.models.features.features import Features, make_features
from unknot.models.features.words import as_scipy
from unknot.models.predictor.forest import ForestMember, fit_forest
from unknot.models.predictor.linear import LinearMember, fit_linear
from unknot.models.predictor.stacking import ClassStack, cross_fitted, make_stack
from unknot.models.predictor.targets import Targets

FOREST_PARTS = 10  # that stand for the forest among the members of a mixture


@dataclass(frozen=True)
class Inputs:
    """What the members see of B items: features ``(B, F)``, and what linear models learn from, ``(B, G)``."""

    features: Tensor
    linear: Tensor

    @classmethod
    def of(cls, features: Features, x: Tensor) -> Inputs:
        """Compute them for items ``(B, ...)``."""
        numbers = features(x)
        return cls(numbers, features.linear_inputs(x, numbers))

    @classmethod
    def joined(cls, parts: Sequence[Inputs]) -> Inputs:
        """Join those of several batches."""
        return cls(torch.cat([one.features for one in parts]), torch.cat([one.linear for one in parts]))


class Predictor(nn.Module):
    """Predict one factor: a stack of the model's own prediction and of what linear model and forest predict.

    Without features there is the model's own prediction alone, and the stack calibrates it.

    Parameters
    ----------
    outputs : int
        The number of classes K, or of numbers D.
    classes : bool
        Whether the factor has classes.
    features : int, default=0
        The number of columns that the linear model learns from, G; 0 for none.
    trees, nodes, depth : int
        The sizes of the forest.
    """

    def __init__(
        self, outputs: int, classes: bool, features: int = 0, trees: int = 0, nodes: int = 0, depth: int = 0
    ) -> None:
        super().__init__()
        self.settings = {
            "outputs": outputs,
            "classes": classes,
            "features": features,
            "trees": trees,
            "nodes": nodes,
            "depth": depth,
        }
        self.classes = classes
        self.linear = LinearMember(features, outputs, classes) if features else None
        self.forest = ForestMember(trees, nodes, depth, outputs) if features else None
        self.stack = make_stack(3 if features else 1, outputs, classes)

    def forward(self, inputs: Inputs | None, own: Tensor) -> Tensor:
        """Return class probabilities ``(B, K)``, or numbers ``(B, D)``.

        Parameters
        ----------
        inputs : Inputs or None
            What linear model and forest see of the items.
        own : Tensor, shape (B, K) or (B, D)
            The model's own prediction; of a binary factor it may be the probability of yes, ``(B, 1)``, and so is the
            result then.
        """
        of_yes = self.classes and own.shape[1] == 1
        members = [torch.cat([1 - own, own], 1) if of_yes else own]
        if self.linear is not None and self.forest is not None and inputs is not None:
            members += [self.linear(inputs.linear), self.forest(inputs.features)]
        combined = self.stack(torch.stack(members))
        return combined[:, 1:] if of_yes else combined

    def members(self, inputs: Inputs | None, own: Tensor, own_weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return the predictions ``(M, B, K)`` of all that is stacked, parts of the forest apart, and their weights.

        Parameters
        ----------
        inputs : Inputs or None
            What linear model and forest see of the items.
        own : Tensor, shape (m, B, K)
            The predictions of the model's own members.
        own_weights : Tensor, shape (m,)
            Their weights, which add up to 1.
        """
        parts, shares = [own], [own_weights]
        if self.linear is not None and self.forest is not None and inputs is not None:
            assert isinstance(self.stack, ClassStack)
            weights = self.stack.weights
            forest = self.forest.parts(inputs.features, FOREST_PARTS)
            parts += [self.linear(inputs.linear)[None], forest]
            of_forest = (weights[2] / len(forest)).expand(len(forest))
            shares = [own_weights * weights[0], weights[1:2], of_forest]
        return torch.cat(parts), torch.cat(shares)


@dataclass(frozen=True)
class PredictorFit:
    """A fitted predictor, and out-of-fold predictions ``(n, K)`` or ``(n, D)``: its own, and the linear member's."""

    predictor: Predictor
    predictions: np.ndarray
    linear: np.ndarray


@torch.no_grad()
def fit_predictor(inputs: Inputs | None, own: Tensor, targets: Targets, seed: int = 0) -> PredictorFit:
    """Fit a predictor to labels.

    All members are fitted to all labels; the stack, to predictions for labels that were hidden from them. The
    predictions that are returned estimate the error on new items: the prediction of a label comes from members that
    did not see it, and from a stack that was fitted to the other folds.

    Parameters
    ----------
    inputs : Inputs or None
        What linear model and forest see of the labeled items.
    own : Tensor, shape (n, K) or (n, D)
        The model's own predictions, each by a model from which the label was hidden.
    targets : Targets
        The labels, dealt into folds.
    seed : int, default=0
        The seed of the forest.

    Returns
    -------
    PredictorFit
    """
    own = own.float()
    if inputs is None:
        predictor = Predictor(targets.outputs, targets.classes)
        members = own[None]
        linear = _constant(targets)
    else:
        linear_rows = as_scipy(inputs.linear) if inputs.linear.is_sparse else inputs.linear.numpy()
        line = fit_linear(linear_rows, targets)
        forest = fit_forest(inputs.features.numpy(), targets, seed)
        trees, nodes = forest.member.feature.shape
        predictor = Predictor(
            targets.outputs, targets.classes, linear_rows.shape[1], trees, nodes, forest.member.depth
        )
        predictor.linear, predictor.forest = line.member, forest.member
        linear = line.out_of_fold
        members = torch.stack(
            [own, torch.from_numpy(linear).float(), torch.from_numpy(forest.out_of_fold).float()]
        )
    predictor.stack.fit(members, targets)
    return PredictorFit(predictor, cross_fitted(members, targets), linear)


def _constant(targets: Targets) -> np.ndarray:
    """Class shares, or means, of the labels in the other folds: a linear model without features."""
    found = np.zeros((len(targets), targets.outputs))
    for k in range(targets.folds):
        hidden, seen = targets.fold == k, targets.values[targets.fold != k]
        if targets.classes:
            shares = np.bincount(seen, minlength=targets.outputs) + 1 / targets.outputs
            found[hidden] = shares / shares.sum()
        else:
            found[hidden] = seen.mean(0)
    return found


class Predictors(nn.Module):
    """The predictors of a model's factors, on features that are computed once.

    Parameters
    ----------
    features : Features or None
        The features of an item.
    by_factor : mapping from str to Predictor
        A predictor for each factor.
    """

    def __init__(self, features: Features | None, by_factor: Mapping[str, Predictor]) -> None:
        super().__init__()
        self.features = features
        self.names = tuple(by_factor)
        self.each = nn.ModuleList(by_factor.values())  # names may be any

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def items(self) -> Iterator[tuple[str, Predictor]]:
        """Yield the predictors with the names of their factors."""
        for name, one in zip(self.names, self.each, strict=True):
            assert isinstance(one, Predictor)
            yield name, one

    @torch.no_grad()
    def forward(self, x: Tensor, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the predictions of all factors that have a predictor.

        Parameters
        ----------
        x : Tensor
            Items, ``(B, ...)``.
        own : mapping from str to Tensor
            The model's own predictions.
        """
        inputs = None if self.features is None else Inputs.of(self.features, x)
        return {name: one(inputs, own[name]) for name, one in self.items() if name in own}

    @torch.no_grad()
    def members(self, x: Tensor, name: str, own: Tensor, own_weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return the predictions ``(M, B, K)`` of all members of one factor, and their weights ``(M,)``."""
        inputs = None if self.features is None else Inputs.of(self.features, x)
        return dict(self.items())[name].members(inputs, own, own_weights)

    def to_dict(self) -> dict[str, Any]:
        """Return what :func:`make_predictors` needs, as plain data."""
        features = None if self.features is None else [self.features.name, dict(self.features.settings)]
        return {"features": features, "factors": {name: one.settings for name, one in self.items()}}


def make_predictors(described: Mapping[str, Any]) -> Predictors:
    """Make predictors from what :meth:`Predictors.to_dict` wrote; their buffers are loaded afterwards."""
    features = None if described["features"] is None else make_features(*described["features"])
    return Predictors(features, {name: Predictor(**one) for name, one in described["factors"].items()})
