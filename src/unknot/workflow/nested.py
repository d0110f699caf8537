"""Nested: a trained model as a part of a user's own program."""

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

# The models that a program nests, by the name of the argument they come in as: where from, and kept with it.
# In a spec they are paths; a run and a saved model keep a copy in ``nested/NAME``, a saved model like any other::
#
#     nested: {digit: runs/digit}                          # frozen
#     nested: {digit: {path: runs/digit, frozen: false}}   # its weights learn with the program's

FOLDER = "nested"


@dataclass(frozen=True)
class NestedSource:
    """A trained model to be nested."""

    model: TrainedModel
    frozen: bool

    def build(self) -> Nested:
        """A copy with the weights as they were trained."""
        return Nested(deepcopy(self.model.module), self.frozen)


def read_nested(described: Mapping[str, Any], folder: Path) -> dict[str, NestedSource]:
    """The nested models of a description; their paths are meant from ``folder``."""
    from unknot.workflow.trained_model import TrainedModel

    found = {}
    for name, entry in described.items():
        path, frozen = _entry(entry)
        found[name] = NestedSource(TrainedModel.load(folder / path), frozen)
    return found


def describe_nested(sources: Mapping[str, NestedSource]) -> dict[str, Any]:
    """The description of nested models that lie beside their program."""
    return {name: {"path": f"{FOLDER}/{name}", "frozen": one.frozen} for name, one in sources.items()}


def nested_files(sources: Mapping[str, NestedSource]) -> dict[str, bytes]:
    """The nested models' files, by their paths beside the program."""
    from unknot.workflow.model_file import saved_files

    return {
        f"{FOLDER}/{name}/{file}": content
        for name, one in sources.items()
        for file, content in saved_files(one.model).items()
    }


def with_paths(model: Mapping[str, Any], place: Callable[[str], Path]) -> dict[str, Any]:
    """A model's description with all its paths, of a program and of nested models, changed by ``place``."""
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
    """The path, and whether the weights stay."""
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
