"""Terms: what every objective returns, named parts per item and their weighted sum."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from unknot.errors import UnknotWarning


class Terms(Mapping[str, Tensor]):
    """Named terms of an objective to be *maximized*, one value per item, and their weights.

    ``terms["reconstruction"]`` is a tensor ``(B,)``, as it enters the objective before its weight. The sum is
    ``per_item = item_weight · Σ_name weights[name] · terms[name]``, its mean over items the ``total``, and
    ``loss = -total`` is what an optimizer takes.

    Arguments:

    * ``terms``: name -> one value per item, ``(B,)``;
    * ``weights``: name -> weight; a name without one has weight one;
    * ``item_weight``: how much each item counts, ``(B,)``; None for one each;
    * ``diagnostics``: values worth logging that do not count;
    * ``score``: zero in value, joins the sum before ``item_weight``: it carries the gradient of sites drawn with the
      score function, which belongs to the whole objective. Single terms carry the pathwise gradient only.

    >>> import torch
    >>> terms = Terms({"fit": torch.tensor([1.0, 3.0]), "cost": torch.tensor([-1.0, -1.0])}, {"cost": 2.0})
    >>> terms.per_item
    tensor([-1.,  1.])
    >>> terms.total, terms.loss
    (tensor(0.), tensor(-0.))
    """

    def __init__(
        self,
        terms: Mapping[str, Tensor],
        weights: Mapping[str, float | Tensor] | None = None,
        item_weight: Tensor | None = None,
        diagnostics: Mapping[str, Tensor] | None = None,
        score: Tensor | None = None,
    ) -> None:
        items = max([1, *(term.shape[-1] for term in terms.values() if term.ndim)])
        self._terms = {  # what all items share has a batch axis of size one
            name: term if term.ndim != 1 or len(term) == items else term.expand(items)
            for name, term in terms.items()
        }
        self.weights: dict[str, float | Tensor] = {**dict.fromkeys(self._terms, 1.0), **(weights or {})}
        self.item_weight = item_weight
        self.diagnostics = dict(diagnostics or {})
        self.score = score

    def __getitem__(self, name: str) -> Tensor:
        term = self._terms[name]
        if self.score is None or not term.requires_grad or torch.compiler.is_compiling():
            return term
        term = term.view_as(term)  # the weighted sum does not pass through this view
        term.register_hook(lambda grad: _warn_of_score(name))
        return term

    def __iter__(self) -> Iterator[str]:
        return iter(self._terms)

    def __len__(self) -> int:
        return len(self._terms)

    @property
    def per_item(self) -> Tensor:
        """The weighted sum for each item, ``(B,)``."""
        total = weighted_sum(self._terms, self.weights)
        total = total if self.score is None else total + self.score
        return total if self.item_weight is None else self.item_weight * total

    @property
    def total(self) -> Tensor:
        """The objective: the mean over items."""
        return self.per_item.mean()

    @property
    def loss(self) -> Tensor:
        """What an optimizer minimizes: minus the total."""
        return -self.total

    def means(self) -> dict[str, Tensor]:
        """Mean of every term and diagnostic over the batch, for logs."""
        values = {**self._terms, **self.diagnostics}
        # sums of half precision numbers are taken in single precision
        return {
            name: value.detach().to(torch.promote_types(value.dtype, torch.float32)).mean()
            for name, value in values.items()
        }

    def __repr__(self) -> str:
        parts = [
            f"{self.weights[name]} · {name} ({term.mean().item():.4g})" for name, term in self._terms.items()
        ]
        return f"Terms({' + '.join(parts)})"


def _warn_of_score(name: str) -> None:
    warnings.warn(
        f"the gradient of terms['{name}'] lacks the score-function part, which belongs to the whole objective; "
        "differentiate terms.loss or terms.per_item instead, and change weights by the arguments of the objective",
        UnknotWarning,
        stacklevel=2,
    )


def weighted_sum(terms: Mapping[str, Tensor], weights: Mapping[str, float | Tensor]) -> Tensor:
    """``Σ_name weights[name] · terms[name]``; a name without a weight has weight one."""
    total: Tensor | None = None
    for name, term in terms.items():
        weighted = _times(weights.get(name, 1.0), term)
        total = weighted if total is None else total + weighted
    assert total is not None
    return total


def _times(weight: float | Tensor, term: Tensor) -> Tensor:
    return term if isinstance(weight, float) and weight == 1.0 else weight * term
