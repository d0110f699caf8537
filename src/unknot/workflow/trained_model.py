"""TrainedModel: the one object that recognises, varies, samples, reconstructs and scores, and is saved and loaded."""

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

from unknot.core.trace import Trace
from unknot.data.dataset import Dataset
from unknot.errors import DataError, SpecError
from unknot.models.spec import NodeSpec
from unknot.workflow.class_weights import reweighed
from unknot.workflow.followers import followers
from unknot.workflow.generation import drawn_data, expected_data
from unknot.workflow.item_rows import item_rows, items_at_once
from unknot.workflow.labels import class_names, has_classes, own_classes
from unknot.workflow.model_source import ModelSource
from unknot.workflow.recognition import Recognition, best_trace, recognise


@dataclass(frozen=True)
class TrainedModel:
    """A model and what must be known of its data to use it.

    Its protocol is met by any module with ``encode(x, labels)`` and ``decode(x, q)`` that return traces; a
    :class:`~unknot.models.GraphicalModel` is one, a program written by hand another.

    - ``module``: the two programs. Training changes it in place.
    - ``source``: where it comes from, so that it can be made again.
    - ``data``: the training data without its items: shape, factors and their classes, columns.
    - ``words``: factors whose classes are words even where they look like numbers.
    - ``ink``: whether images are drawn as dark strokes on a page.
    - ``class_weights``: for some factors weights of the classes in what is recognised
      (:mod:`unknot.workflow.class_weights`).
    """

    module: nn.Module
    source: ModelSource
    data: Dataset
    words: tuple[str, ...] = ()
    ink: bool = False
    class_weights: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    # ---- what there is ------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The shape of one item."""
        return self.data.item_shape

    @cached_property
    def nodes(self) -> list[NodeSpec]:
        """All variables, the data among them."""
        return self.source.nodes(self.module, self.data)

    @property
    def latents(self) -> list[NodeSpec]:
        return [node for node in self.nodes if not node.is_data]

    @property
    def labelled(self) -> list[NodeSpec]:
        """The variables that take labels: the named factors."""
        return [node for node in self.nodes if node.labels]

    @cached_property
    def settable(self) -> list[NodeSpec]:
        """The variables whose value can be given: all but answers that a program reads off several sites."""
        sites = self.recognise(torch.zeros(1, *self.shape)).values
        return [node for node in self.latents if node.name in sites]

    def node(self, name: str) -> NodeSpec:
        """The variable of that name."""
        for one in self.latents:
            if one.name == name:
                return one
        raise SpecError(
            f"there is no factor '{name}' to set; there are {', '.join(n.name for n in self.latents)}."
        )

    def describe(self) -> str:
        """What the model is, in a few lines."""
        lines = [f"items of shape {tuple(self.shape)}, as of {self.data.name}"]
        for node in self.latents:
            size = f"{node.size} classes" if has_classes(node) else f"{node.size} numbers"
            lines.append(f"{node.name}: {node.family}, {size}{', takes labels' if node.labels else ''}")
        return "\n".join(lines)

    # ---- recognising --------------------------------------------------------------------------------

    def recognise(self, x: Tensor, known: Mapping[str, Tensor] | None = None) -> Recognition:
        """What the recogniser says of items ``(N, ...)``, without drawing; ``known`` values replace its own."""
        parts = []
        step = items_at_once(self.shape)
        for start in range(0, len(x), step):
            rows = slice(start, start + step)
            items = item_rows(x, start, start + step)
            told = None if known is None else {name: v[rows].to(self._device) for name, v in known.items()}
            parts.append(recognise(self.module, items.to(self._device), told))
        summaries = {n: torch.cat([p.summaries[n].cpu() for p in parts]) for n in parts[0].summaries}
        for name, weights in self.class_weights.items():
            summaries[name] = reweighed(summaries[name], weights)
        return Recognition(
            summaries, {n: torch.cat([p.values[n].cpu() for p in parts]) for n in parts[0].values}
        )

    def recognition_trace(self, x: Tensor) -> Trace:
        """The recognition program's trace at best values, with the distribution of every variable."""
        return best_trace(self.module, x.to(self._device))

    # ---- generating ---------------------------------------------------------------------------------

    def generate(self, count: int, values: Mapping[str, Tensor]) -> Tensor:
        """Expected items ``(count, ...)`` at values of variables; those without a value are drawn from the prior."""
        return self._made(expected_data, count, values)

    def sample(self, count: int, /, *, mean: bool = False, **values: Any) -> Tensor:
        """New items, some variables given for all or for each in the user's own words: ``sample(16, digit=3)``.

        The items themselves are drawn too (but pixels, see :mod:`unknot.workflow.generation`); with ``mean`` they are
        what is expected at the variables' values.
        """
        if not isinstance(count, Integral) or count < 1:
            raise SpecError(f"sample() makes a whole number of items, at least 1, but got {count!r}.")
        told = {name: self.value(name, v, count) for name, v in values.items()}
        return self._made(expected_data if mean else drawn_data, count, told)

    def _made(self, make: Callable[..., Tensor], count: int, values: Mapping[str, Tensor]) -> Tensor:
        data = next(node.name for node in self.nodes if node.is_data)
        step, parts = items_at_once(self.shape), []
        for start in range(0, count, step):
            here = min(step, count - start)
            told = {name: value[start : start + here].to(self._device) for name, value in values.items()}
            parts.append(make(self.module, told, here, data, self.shape).cpu())
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def reconstruct(self, x: Tensor) -> Tensor:
        """What the model makes of items: recognised, then generated."""
        return self.generate(len(x), self.recognise(x).values)

    def vary(self, x: Tensor, name: str, settings: Iterable[Tensor]) -> Tensor:
        """Items with one variable changed and everything else kept, ``(N, K, ...)`` for K settings (S17 Fig. 2a).

        A setting is one value for all items, a class index ``()`` or a vector ``(D,)``, or with an axis of items
        before it one for each.

        What the recogniser computes from the changed variable without looking at the data follows it (S17's
        q(s | i, l) for faces); all else stays as it was recognised.
        """
        axes = 0 if has_classes(self.node(name)) else 1
        values, following = self.recognise(x).values, followers(self.nodes, name)
        if name not in values:
            raise SpecError(
                f"'{name}' is read off other sites of the program: there is no site '{name}' to set."
            )
        columns = []
        for setting in settings:
            changed = {**values, name: setting.expand(len(x), *setting.shape[setting.ndim - axes :])}
            if following:
                known = {
                    node.name: changed[node.name] for node in self.labelled if node.name not in following
                }
                again = self.recognise(x, known).values
                changed |= {node: again[node] for node in following}
            columns.append(self.generate(len(x), changed))
        return torch.stack(columns, 1)

    def value(self, name: str, given: Any, count: int) -> Tensor:
        """A value in the user's words as the site takes it: class indices ``(count,)``, or numbers ``(count, D)``."""
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
        """The classes of a variable in the user's own type: words, numbers, or False and True."""
        count = self.node(name).size or 0
        if name not in self.data.factors:
            return list(range(count))
        factor = self.data.factors[name]
        return list(class_names(factor, count)) if name in self.words else own_classes(factor, count)

    # ---- files --------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the model to a folder, whole or not at all: weights as safetensors, the rest as JSON."""
        from unknot.workflow.model_file import save_model

        save_model(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> TrainedModel:
        """Read a saved model, or the model of a run with the weights of its last checkpoint."""
        from unknot.workflow.model_file import load_model

        return load_model(Path(path))

    @property
    def _device(self) -> torch.device:
        return next(self.module.parameters()).device
