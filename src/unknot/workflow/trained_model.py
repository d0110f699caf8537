"""TrainedModel: predicts, varies, samples and reconstructs items, and is saved and loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Size, Tensor, nn

from unknot.core.program import Program, as_program
from unknot.core.trace import Trace
from unknot.data.batch import Batch
from unknot.data.dataset import Dataset
from unknot.data.factor import known_rows
from unknot.errors import DataError, SpecError
from unknot.models.families import family_of
from unknot.models.novelty import Novelty
from unknot.models.predictor.predictor import Predictors
from unknot.models.spec import NodeSpec
from unknot.workflow.class_weights import reweighed
from unknot.workflow.generation import deterministic_children, expected_items, sampled_items
from unknot.workflow.labels import class_names, has_classes, own_classes
from unknot.workflow.model_source import ModelSource
from unknot.workflow.out_of_fold import OutOfFold
from unknot.workflow.prediction import Prediction, joined, mode_trace, predict

# Stretches of items: how many go through the networks at once, and how they are cut out of dense data and sparse.

_ITEMS = 1000
_NUMBERS = 1 << 24  # of all items together; 64 MB


def items_at_once(shape: Size) -> int:
    """Return how many items of a shape go through the networks at once, so that memory does not grow with the data.

    >>> items_at_once(Size([1, 28, 28])), items_at_once(Size([3, 256, 256]))
    (1000, 85)
    """
    return max(1, min(_ITEMS, _NUMBERS // max(1, shape.numel())))


def item_rows(x: Tensor, start: int, stop: int) -> Tensor:
    """Return the items from ``start`` to before ``stop``, also of sparse tensors, which have no slices."""
    if not x.is_sparse:
        return x[start:stop]
    return x.narrow_copy(0, start, min(stop, len(x)) - start).coalesce()


def _unless_known(predicted: Tensor, own: Tensor, given: Tensor) -> Tensor:
    """Return predictions; of items whose value is given, the model's own, which has that value."""
    known = known_rows(given).cpu().expand(len(own))
    return torch.where(known[:, None], own, predicted)


@dataclass(frozen=True)
class TrainedModel:
    """A model and what must be known about its data to use it.

    Parameters
    ----------
    module : nn.Module
        The two programs, for example a :class:`~unknot.models.GraphicalModel`, or a module written by hand with
        ``encode(x, labels)`` and ``decode(x, q)``. Training changes it in place.
    source : ModelSource
        Where it comes from, so that it can be made again.
    data : Dataset
        The training data without its items: shape, factors and their classes, columns.
    words : tuple of str
        Factors whose classes are words even where they look like numbers.
    ink : bool
        Whether images are drawn as dark strokes on a page.
    class_weights : mapping from factor to tuple of float
        Weights of the classes in predictions (:mod:`unknot.workflow.class_weights`).
    trained_labels : mapping from factor to ndarray of uint64
        Digests of the items whose label was trained on (:mod:`unknot.workflow.trained_labels`).
    out_of_fold : mapping from factor to OutOfFold
        Predictions for the training labels by models that were not trained on them.
    novelty : Novelty, optional
        How unlike the training items an item is.
    """

    module: nn.Module
    source: ModelSource
    data: Dataset
    words: tuple[str, ...] = ()
    ink: bool = False
    class_weights: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    trained_labels: Mapping[str, np.ndarray] = field(default_factory=dict, compare=False)
    predictors: Predictors | None = None
    out_of_fold: Mapping[str, OutOfFold] = field(default_factory=dict, compare=False)
    novelty: Novelty | None = None

    # ---- what there is ------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The shape of one item."""
        return self.data.item_shape

    @cached_property
    def program(self) -> Program:
        """The module, with defaults for the methods that it does not have."""
        return as_program(self.module)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.module.parameters()).device

    @cached_property
    def nodes(self) -> list[NodeSpec]:
        """All variables, the data among them."""
        return self.source.nodes(self.program, self.data)

    @property
    def latents(self) -> list[NodeSpec]:
        return [node for node in self.nodes if not node.is_data and not node.given]

    @property
    def labeled(self) -> list[NodeSpec]:
        """The variables that take labels: the named factors."""
        return [node for node in self.nodes if node.labels]

    @cached_property
    def settable(self) -> list[NodeSpec]:
        """The variables whose value can be set: all but predictions that are computed from several sites."""
        sites = self.predict(torch.zeros(1, *self.shape)).values
        return [node for node in self.nodes if node.name in sites]

    def node(self, name: str) -> NodeSpec:
        """Return the variable of a name."""
        for one in self.nodes:
            if one.name == name and not one.is_data:
                return one
        raise SpecError(
            f"there is no factor '{name}' to set; there are {', '.join(n.name for n in self.latents)}."
        )

    def describe(self) -> str:
        """Describe the model in a few lines."""
        lines = [f"items of shape {tuple(self.shape)}, as of {self.data.name}"]
        for node in self.latents:
            size = f"{node.size} classes" if has_classes(node) else f"{node.size} numbers"
            lines.append(f"{node.name}: {node.family}, {size}{', takes labels' if node.labels else ''}")
        return "\n".join(lines)

    def known_inputs(self, batch: Batch) -> dict[str, Tensor] | None:
        """Return the values of a batch for the nodes that are given, as :meth:`predict` takes them."""
        names = [node.name for node in self.nodes if node.given and node.name in batch.values]
        return {name: batch.values[name] for name in names} or None

    # ---- prediction ---------------------------------------------------------------------------------

    def predict(self, x: Tensor, known: Mapping[str, Tensor] | None = None) -> Prediction:
        """Predict all factors, without drawing.

        Parameters
        ----------
        x : Tensor
            Items, ``(N, ...)``.
        known : mapping from factor to Tensor, optional
            Values that replace the predictions, and those of nodes that are given.
        """
        step = items_at_once(self.shape)
        parts = []
        for start in range(0, len(x), step):
            rows = slice(start, start + step)
            given = None if known is None else {name: v[rows].to(self.device) for name, v in known.items()}
            parts.append(self.predict_batch(item_rows(x, start, start + step), given))
        return joined(parts)

    def predict_batch(self, x: Tensor, known: Mapping[str, Tensor] | None = None) -> Prediction:
        """Predict all factors of items that go through the networks at once, see :meth:`predict`.

        Predictions are those of the predictors where there are some; values are the model's own modes, from which it
        generates.
        """
        made = predict(self.program, x.to(self.device), known)
        predictions = {name: one.cpu() for name, one in made.predictions.items()}
        if self.predictors is not None:
            for name, one in self.predictors(x.cpu(), predictions).items():
                given = None if known is None else known.get(name)
                predictions[name] = one if given is None else _unless_known(one, predictions[name], given)
        for name, weights in self.class_weights.items():
            predictions[name] = reweighed(predictions[name], weights)
        return Prediction(predictions, {name: one.cpu() for name, one in made.values.items()})

    def members(self, x: Tensor, name: str) -> tuple[Tensor, Tensor]:
        """Return the predictions of one factor with classes by each member of the mixture that predicts it.

        Parameters
        ----------
        x : Tensor
            Items that go through the networks at once, ``(B, ...)``.
        name : str
            The factor.

        Returns
        -------
        members : Tensor, shape (M, B, K)
        weights : Tensor, shape (M,)
        """
        found = self.program.member_predictions(x.to(self.device)).get(name)
        if found is not None:
            own, weights = found[0].cpu(), found[1].cpu()
            weights = weights / weights.sum()
        else:
            made = predict(self.program, x.to(self.device), None).predictions[name].cpu()
            own = (torch.cat([1 - made, made], 1) if made.shape[1] == 1 else made)[None]
            weights = torch.ones(1)
        if self.predictors is not None and name in self.predictors:
            own, weights = self.predictors.members(x.cpu(), name, own, weights)
        if len(own) == 1:
            raise SpecError(
                f"what labels of '{name}' would tell is known by how members of a mixture differ, and this model has "
                "only one: fit a default model on at least 8 labels, or any model with cross_fit=5."
            )
        return own, weights

    def interval(self, x: Tensor, name: str, level: float = 0.9) -> Tensor:
        """Predict intervals of a Gaussian factor.

        Parameters
        ----------
        x : Tensor
            Items, ``(N, ...)``.
        name : str
            The factor.
        level : float, default=0.9
            The probability of the interval under q(factor | x).

        Returns
        -------
        Tensor
            Lower and upper ends, ``(N, D, 2)``.
        """
        if not 0 < level < 1:
            raise SpecError(f"an interval has a level between 0 and 1, but got {level:g}.")
        if not family_of(self.node(name)).gaussian:
            raise SpecError(
                f"intervals are predicted for continuous factors, but '{name}' is {self.node(name).family}."
            )
        dist = self.mode_trace(x)[name].dist
        reach = torch.special.ndtri(torch.tensor(0.5 + level / 2, dtype=torch.float64)).item() * dist.stddev
        mean, reach = self.predict(x).predictions[name], reach.cpu()
        return torch.stack([mean - reach, mean + reach], -1)

    def mode_trace(self, x: Tensor) -> Trace:
        """Return the encoder's trace with every variable at its mode."""
        return mode_trace(self.program, x.to(self.device))

    # ---- generating ---------------------------------------------------------------------------------

    def generate(self, count: int, values: Mapping[str, Tensor]) -> Tensor:
        """Return expected items ``(count, ...)`` at values of variables; the others are drawn from the prior."""
        return self._made(expected_items, count, values)

    def sample(self, count: int, given: Mapping[str, Any] | None = None, *, mean: bool = False) -> Tensor:
        """Generate items: ``sample(16, {"digit": 3})``.

        Parameters
        ----------
        count : int
            The number of items.
        given : mapping from variable to value, optional
            Values in the user's own words, for all items or for each; other variables are drawn from the prior.
        mean : bool, default=False
            Return the expected items at the variables instead of draws
            (:meth:`unknot.core.program.Program.sample_data`).

        Returns
        -------
        Tensor
            ``(count, ...)``.
        """
        if not isinstance(count, Integral) or count < 1:
            raise SpecError(f"sample() makes a whole number of items, at least 1, but got {count!r}.")
        values = {name: self.value(name, v, count) for name, v in (given or {}).items()}
        return self._made(expected_items if mean else sampled_items, count, values)

    def _made(self, make: Callable[..., Tensor], count: int, values: Mapping[str, Tensor]) -> Tensor:
        step, parts = items_at_once(self.shape), []
        for start in range(0, count, step):
            here = min(step, count - start)
            chunk = {name: value[start : start + here].to(self.device) for name, value in values.items()}
            parts.append(make(self.program, chunk, here, self.shape).cpu())
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def reconstruct(self, x: Tensor, known: Mapping[str, Tensor] | None = None) -> Tensor:
        """Return the expected items at the modes of the encoder; ``known`` as for :meth:`predict`."""
        return self.generate(len(x), self.predict(x, known).values)

    def vary(
        self, x: Tensor, name: str, settings: Iterable[Tensor], known: Mapping[str, Tensor] | None = None
    ) -> Tensor:
        """Change one variable and keep everything else as it was predicted (S17 Fig. 2a).

        Variables that the encoder infers from the changed one without the data change with it (S17's q(s | i, l) for
        faces), see :func:`~unknot.workflow.generation.deterministic_children`.

        Parameters
        ----------
        x : Tensor
            Items, ``(N, ...)``.
        name : str
            The variable.
        settings : iterable of Tensor
            Its K values, each for all items, a class index ``()`` or a vector ``(D,)``, or with an axis of items before
            it.
        known : mapping from name to Tensor, optional
            As for :meth:`predict`.

        Returns
        -------
        Tensor
            ``(N, K, ...)``.
        """
        axes = 0 if has_classes(self.node(name)) else 1
        values, children = self.predict(x, known).values, deterministic_children(self.nodes, name)
        if name not in values:
            raise SpecError(
                f"'{name}' is predicted from other sites of the program: there is no site '{name}' to set."
            )
        columns = []
        for setting in settings:
            changed = {**values, name: setting.expand(len(x), *setting.shape[setting.ndim - axes :])}
            if children:
                fixed = [node for node in self.nodes if node.labels or node.given]
                held = {node.name: changed[node.name] for node in fixed if node.name not in children}
                again = self.predict(x, held).values
                changed |= {node: again[node] for node in children}
            columns.append(self.generate(len(x), changed))
        return torch.stack(columns, 1)

    def value(self, name: str, given: Any, count: int) -> Tensor:
        """Convert a value from the user's own type: to class indices ``(count,)``, or numbers ``(count, D)``."""
        node = self.node(name)
        if has_classes(node):
            return self._class_indices(node, given, count)
        size = node.size or 0
        try:
            numbers = torch.as_tensor(np.asarray(given, dtype=np.float32))
        except (TypeError, ValueError):
            raise DataError(f"'{name}' is {size} numbers, but got {given!r}.") from None
        if numbers.ndim <= 1 and numbers.numel() == size:
            return numbers.reshape(1, size).expand(count, size)
        if numbers.numel() != count * size or len(numbers) != count:
            raise DataError(
                f"'{name}' is {size} numbers for all, or for each of {count}; got shape {tuple(numbers.shape)}."
            )
        return numbers.reshape(count, size)

    def _class_indices(self, node: NodeSpec, given: Any, count: int) -> Tensor:
        classes = self.class_values(node.name)
        named = [str(one) for one in classes]
        codes = []
        for one in np.asarray(given, dtype=object).ravel().tolist():
            if one not in classes and str(one) not in named:
                raise DataError(f"'{node.name}' has no class {one!r}; it has {', '.join(named)}.")
            codes.append(classes.index(one) if one in classes else named.index(str(one)))
        if len(codes) not in (1, count):
            raise DataError(
                f"'{node.name}' is one class for all, or one for each of {count}; got {len(codes)}."
            )
        return torch.tensor(codes).expand(count)

    def class_values(self, name: str) -> list[Any]:
        """Return the classes of a variable in the user's own type: words, numbers, or False and True."""
        count = self.node(name).size or 0
        factors = {**self.data.factors, **self.data.given}
        if name not in factors:
            return list(range(count))
        factor = factors[name]
        return list(class_names(factor, count)) if name in self.words else own_classes(factor, count)

    # ---- files --------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model to a folder, completely or not at all: weights as safetensors, the rest as JSON."""
        from unknot.workflow.model_file import save_model

        save_model(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> TrainedModel:
        """Load a saved model, or the model of a run with the weights of its last checkpoint."""
        from unknot.workflow.model_file import load_model

        return load_model(Path(path))
