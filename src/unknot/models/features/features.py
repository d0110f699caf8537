"""Features: the contract, and the registry by which a saved predictor finds its features again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor, nn

from unknot.data.dataset import Dataset
from unknot.errors import SpecError


class Features(nn.Module, ABC):
    """Map items ``(B, ...)`` to dense numbers ``(B, F)``; statistics are learned from all items, labeled or not.

    A subclass has a ``name``, keeps whatever it learns in buffers whose shapes follow from its ``settings``, and is
    made for a data set by :meth:`for_data`. Outputs are finite for every finite item, missing values included.
    """

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def suits(cls, data: Dataset) -> bool:
        """Whether these are features of such items."""

    @classmethod
    @abstractmethod
    def for_data(cls, data: Dataset) -> Features:
        """Make the features of a data set and learn them from all its items, without looking at labels."""

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """The arguments of the constructor, as plain data."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of features, F."""

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Return the features ``(B, F)`` of a batch of items, as :attr:`Batch.x` holds them (dense or sparse)."""

    @property
    def linear_size(self) -> int:
        """The number of columns that linear models learn from, G."""
        return self.size

    def linear_inputs(self, x: Tensor, features: Tensor) -> Tensor:
        """Return what linear models learn from, ``(B, G)``, dense or sparse; by default the features themselves.

        Parameters
        ----------
        x : Tensor
            Items, ``(B, ...)``.
        features : Tensor
            Their features, ``(B, F)``.
        """
        return features


FEATURES: dict[str, type[Features]] = {}
"""All features by name; the first that suits a data set is used."""


def register_features(kind: type[Features]) -> type[Features]:
    """Add a class to :data:`FEATURES`; a decorator."""
    FEATURES[kind.name] = kind
    return kind


def make_features(name: str, settings: Mapping[str, Any]) -> Features:
    """Make features from what a saved predictor says of them; their buffers are loaded afterwards."""
    if name not in FEATURES:
        raise SpecError(f"features '{name}' are unknown; there are {', '.join(FEATURES)}.")
    return FEATURES[name](**settings)
