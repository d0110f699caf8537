"""Nested: a trained model as a part of a user's own program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from unknot.core.given_values import GivenValues
from unknot.core.partial import Partial
from unknot.core.trace import Trace
from unknot.errors import SpecError


class Nested(nn.Module):
    """A trained model inside another program: its recogniser, and its generator up to the expected data.

    Both give traces of their own, which the program takes over under a prefix::

        q.include(digit.encode(crop), "digit", k)
        inner, image = digit.decode_mean(q.under("digit", k))
        p.include(inner, "digit", k)

    It stays in evaluation mode while the program around it is trained: crops of turns that did not happen would
    spoil the statistics of its batch norms. Gradients pass through it all the same, frozen or not.

    - ``module``: the trained model's two programs; any module with ``encode`` and ``decode_mean``.
    - ``frozen``: whether its weights stay as they are; otherwise they learn with the program's.
    """

    def __init__(self, module: nn.Module, frozen: bool = True) -> None:
        super().__init__()
        for method in ("encode", "decode_mean"):
            if not callable(getattr(module, method, None)):
                raise SpecError(
                    f"{type(module).__name__} cannot be nested: it has no method {method}(...). Models described by "
                    "nodes can; a program needs decode_mean(q), which returns the trace of its variables and the "
                    "expected data."
                )
        self.module: Any = module.requires_grad_(not frozen)
        self.frozen = frozen
        self.train()

    def encode(
        self, x: Tensor, labels: Mapping[str, Tensor | Partial] | None = None, samples: int | None = None
    ) -> Trace:
        """What the model recognises in items ``(..., B, event...)``: labels ``(B,)`` where known, draws elsewhere.

        - ``x``: the items, with any sample or enumerated axes before the batch.
        - ``labels``: by variable, as the model's own ``encode`` takes them.
        - ``samples``: how many draws, where the items have no axis of samples yet: ``q.samples``.
        """
        trace: Trace = self.module.encode(x, labels, samples)
        return trace

    def decode_mean(self, q: Trace | GivenValues) -> tuple[Trace, Tensor]:
        """The variables scored at their values in ``q``, and the data expected there ``(..., B, event...)``.

        The data is neither drawn nor scored: what becomes of it is the program's to say.
        """
        made: tuple[Trace, Tensor] = self.module.decode_mean(q)
        return made

    def train(self, mode: bool = True) -> Nested:
        """Whatever ``mode`` the program around it is in, the model is in evaluation mode."""
        return super().train(False)


def nested(path: str | Path, frozen: bool = True) -> Nested:
    """A saved model, or the model of a run, for use inside another program.

    - ``path``: the folder of a run, or one that ``save`` wrote.
    - ``frozen``: whether its weights stay as they are.
    """
    from unknot.workflow.trained_model import TrainedModel

    return Nested(TrainedModel.load(path).module, frozen)
