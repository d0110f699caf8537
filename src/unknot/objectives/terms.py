"""Terms: what every objective returns, named parts per item and their weighted sum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torch import Tensor


class Terms(Mapping[str, Tensor]):
    """Named terms of an objective to be *maximised*, one value per item, and their weights.

    ``terms["reconstruction"]`` is a tensor ``(B,)``, as it enters the objective before its weight. The sum is
    ``per_item = item_weight · Σ_name weights[name] · terms[name]``, its mean over items the ``total``, and
    ``loss = -total`` is what an optimiser takes. ``diagnostics`` are values worth logging that do not count.

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
    ) -> None:
        self._terms = dict(terms)
        self.weights: dict[str, float | Tensor] = {name: 1.0 for name in self._terms} | dict(weights or {})
        self.item_weight = item_weight
        self.diagnostics = dict(diagnostics or {})

    def __getitem__(self, name: str) -> Tensor:
        return self._terms[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._terms)

    def __len__(self) -> int:
        return len(self._terms)

    @property
    def per_item(self) -> Tensor:
        """The weighted sum for each item, ``(B,)``."""
        weighted = [_times(self.weights[name], term) for name, term in self._terms.items()]
        total = weighted[0]
        for term in weighted[1:]:
            total = total + term
        return total if self.item_weight is None else self.item_weight * total

    @property
    def total(self) -> Tensor:
        """The objective: the mean over items."""
        return self.per_item.mean()

    @property
    def loss(self) -> Tensor:
        """What an optimiser minimises: minus the total."""
        return -self.total

    def means(self) -> dict[str, Tensor]:
        """Mean of every term and diagnostic over the batch, for logs."""
        return {
            name: value.detach().float().mean() for name, value in {**self._terms, **self.diagnostics}.items()
        }

    def __repr__(self) -> str:
        parts = [
            f"{self.weights[name]} · {name} ({term.mean().item():.4g})" for name, term in self._terms.items()
        ]
        return f"Terms({' + '.join(parts)})"


def _times(weight: float | Tensor, term: Tensor) -> Tensor:
    return term if isinstance(weight, float) and weight == 1.0 else weight * term
