"""Step: a model and its objective as one module, so that precision, compilation and processes wrap both."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from unknot.core.check import check
from unknot.core.trace import Trace
from unknot.data.batch import Batch
from unknot.train.dreams import is_of_dreams, traces
from unknot.train.objective import Objective

Content = TypeVar("Content")


class Held(Generic[Content]):
    """Something in a plain box: wrappers that cast, scatter or watch tensors leave it as it is."""

    __slots__ = ("content",)

    def __init__(self, content: Content) -> None:
        self.content = content


class Step(nn.Module):
    """From a batch to the loss and the means of the objective's terms.

    ``further`` items go to the objective as the ``reference`` of its estimate of q(z); they carry no gradient.
    """

    objective: Objective

    def __init__(self, model: nn.Module, objective: Objective, compiled: bool) -> None:
        super().__init__()
        self.model = model
        # Not a sub-module: an objective's own network is trained apart from the model.
        object.__setattr__(self, "objective", objective)
        self._run = torch.compile(self._compute, fullgraph=True, dynamic=False) if compiled else self._compute
        self.first = True  # the first step of a run: eager, and the traces are checked against each other

    def forward(
        self, batch: Held[Batch], further: Held[Batch] | None = None
    ) -> tuple[Tensor, Held[dict[str, Tensor]]]:
        eager = self.first or is_of_dreams(self.objective)
        run = self._compute if eager else self._run
        loss, means = run(batch.content, None if further is None else further.content)
        return loss, Held(means)

    def _compute(self, batch: Batch, further: Batch | None) -> tuple[Tensor, dict[str, Tensor]]:
        q, p = traces(self.model, self.objective, batch)
        if self.first:
            check(q, p)
        terms = self.objective(q, p, **({} if further is None else {"reference": self._encoded(further)}))
        loss = terms.loss
        return loss, {"loss": loss.detach().float(), **terms.means()}

    def _encoded(self, further: Batch) -> Trace:
        """The recognition trace of items whose parameters alone are wanted."""
        model: Any = self.model
        with torch.no_grad():
            found: Trace = model.encode(further.x)
        return found
