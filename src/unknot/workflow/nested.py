"""Nested models: a trained model as a part of a user's own program.

A spec gives their paths by the arguments of the program; a run and a saved model keep copies in ``nested/NAME``::

    nested: {digit: runs/digit}                          # frozen
    nested: {digit: {path: runs/digit, frozen: false}}   # its weights are trained with those of the program
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from unknot.core.evidence import GivenValues
from unknot.core.program import Labels, Program, as_program, lacks
from unknot.core.trace import Trace
from unknot.errors import SpecError

if TYPE_CHECKING:
    from unknot.workflow.trained_model import TrainedModel

FOLDER = "nested"


@dataclass(frozen=True)
class NestedSource:
    """A trained model that is to be nested, and whether its weights stay as they are."""

    model: TrainedModel
    frozen: bool

    def build(self) -> Nested:
        """Return a copy with the trained weights."""
        return Nested(deepcopy(self.model.module), self.frozen)


def read_nested(described: Mapping[str, Any], folder: Path) -> dict[str, NestedSource]:
    """Load the nested models of a description, with paths relative to ``folder``."""
    from unknot.workflow.trained_model import TrainedModel

    entries = {name: _entry(entry) for name, entry in described.items()}
    return {
        name: NestedSource(TrainedModel.load(folder / path), frozen)
        for name, (path, frozen) in entries.items()
    }


def describe_nested(sources: Mapping[str, NestedSource]) -> dict[str, Any]:
    """Describe nested models that lie beside their program."""
    return {name: {"path": f"{FOLDER}/{name}", "frozen": one.frozen} for name, one in sources.items()}


def nested_files(sources: Mapping[str, NestedSource]) -> dict[str, bytes]:
    """Return the files of nested models, by their paths beside the program."""
    from unknot.workflow.model_file import saved_files

    return {
        f"{FOLDER}/{name}/{file}": content
        for name, one in sources.items()
        for file, content in saved_files(one.model).items()
    }


def with_paths(model: Mapping[str, Any], place: Callable[[str], Path]) -> dict[str, Any]:
    """Return a ``model`` section with the paths of a program and of nested models changed by ``place``."""
    placed = dict(model)
    if "program" in model:
        placed["program"] = str(place(str(model["program"])))
    if model.get("nested"):
        entries = {name: _entry(entry) for name, entry in model["nested"].items()}
        placed["nested"] = {
            name: {"path": str(place(path)), "frozen": frozen} for name, (path, frozen) in entries.items()
        }
    return placed


def _entry(entry: str | Mapping[str, Any]) -> tuple[str, bool]:
    """Return the path, and whether the weights stay as they are."""
    if isinstance(entry, Mapping):
        return str(entry["path"]), bool(entry.get("frozen", True))
    return str(entry), True


class Nested(Program):
    """A trained model inside another program: its encoder, and its decoder up to the expected data.

    Both return traces of their own, which the program includes under a prefix::

        q.include(digit.encode(crop), "digit", k)
        inner, image = digit.decode_mean(q.under("digit", k))
        p.include(inner, "digit", k)

    It stays in evaluation mode while the program around it is trained: crops of steps that are switched off would
    spoil the statistics of its batch norms. Gradients pass through it, frozen or not.

    Parameters
    ----------
    module : nn.Module
        The trained model: any module with ``encode`` and ``decode``.
    frozen : bool, default=True
        Whether its weights stay as they are; otherwise they are trained with those of the program.
    """

    def __init__(self, module: nn.Module, frozen: bool = True) -> None:
        super().__init__()
        program = as_program(module)
        missing = lacks(program, "encode", *(["decode"] if lacks(program, "decode_mean") else []))
        if missing:
            raise SpecError(
                f"{type(module).__name__} cannot be nested: it has no method {missing[0]}(...). Models described by "
                "nodes can be, and programs with encode(x) and decode(x, q)."
            )
        self.module = module.requires_grad_(not frozen)
        self.__dict__["program"] = program  # not a sub-module: it shares the weights of ``module``
        self.program: Program
        self.frozen = frozen
        self.train()

    def encode(self, x: Tensor, labels: Labels | None = None, samples: int | None = None) -> Trace:
        """Run the model's encoder.

        Parameters
        ----------
        x : Tensor
            Items, ``(..., B, event...)``, with any sample or enumerated axes before the batch.
        labels : mapping from site to Tensor or Partial, optional
            As the model's own ``encode`` takes them, ``(B,)``.
        samples : int, optional
            The number of draws, where the items have no axis of samples yet: ``q.samples``.

        Returns
        -------
        Trace
        """
        return self.program.encode(x, labels, samples)

    def decode(self, x: Tensor | None, q: Trace | GivenValues) -> Trace:
        """Run the model's decoder, data included."""
        return self.program.decode(x, q)

    def decode_mean(self, q: Trace | GivenValues) -> tuple[Trace, Tensor]:
        """Return the variables scored at their values in ``q``, and the data expected there ``(..., B, event...)``.

        The data are neither drawn nor scored: that is left to the program.
        """
        return self.program.decode_mean(q)

    def train(self, mode: bool = True) -> Nested:
        """Keep the model in evaluation mode, whatever ``mode`` the program around it is in."""
        super().train(False)
        return self


def nested(path: str | Path, frozen: bool = True) -> Nested:
    """Load a saved model, or the model of a run, for use inside another program.

    Parameters
    ----------
    path : str or Path
        The folder of a run, or one that ``save`` wrote.
    frozen : bool, default=True
        Whether its weights stay as they are.

    Returns
    -------
    Nested
    """
    from unknot.workflow.trained_model import TrainedModel

    return Nested(TrainedModel.load(path).module, frozen)
