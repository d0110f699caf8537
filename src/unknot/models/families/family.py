"""Family: how network outputs become a latent node's site, and what there is to know about its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from unknot.core.site_prediction import SitePrediction
from unknot.core.trace import Trace
from unknot.errors import SpecError
from unknot.models.by_name import check_options
from unknot.models.node_spec import NodeSpec, check_prior
from unknot.schema import Schema

SMALLEST_SCALE = 1e-3  # keeps densities of overconfident encoders finite

LabelKind = Literal["categorical", "continuous", "count", "binary"]


@dataclass(frozen=True)
class Settings:
    """Values at which a node is shown, ``(K,)`` classes or ``(K, D)``, and their names."""

    values: Tensor
    names: tuple[str, ...]


class Family(nn.Module, ABC):
    """A latent node's family: ``parameters_size`` outputs of a network become its distribution.

    ``site`` makes the node's site from these outputs. The class attributes and class methods are all that the rest of
    the package knows about a family: they need a description, not a model.
    """

    name: ClassVar[str]  # in descriptions
    OPTIONS: ClassVar[Mapping[str, Schema]] = {}  # of ``family: {name: ..., option: ...}``
    PRIOR: ClassVar[Mapping[str, Schema]] = {}  # parameters of the prior that a description may set
    distributions: ClassVar[tuple[type[Distribution], ...]] = ()  # of its sites, to know it in any program
    has_classes: ClassVar[bool] = False  # labels are one class (B,) an item; otherwise vectors (B, D)
    gaussian: ClassVar[bool] = False  # dimensions with a mean and a width each, that can be swept one by one
    label_kind: ClassVar[LabelKind | None] = None  # how labels are read; None: as they come
    label_kinds: ClassVar[tuple[LabelKind, ...]] = ("continuous", "count", "binary")  # all that fit
    suits: ClassVar[tuple[LabelKind, ...]] = ()  # label kinds it is the default family of
    measure: ClassVar[str] = "root mean square error"  # of its encoder, against labels that are numbers
    default_gradient: ClassVar[str | None] = None  # None: the site's own
    generating_gradient: ClassVar[str | None] = None

    def __init__(self, spec: NodeSpec) -> None:
        super().__init__()
        assert spec.size is not None
        self.spec = spec
        self.size = spec.size

    # ---- facts about a node of the family, from its description alone ---------------------------------

    @classmethod
    def check_node(cls, spec: NodeSpec) -> None:
        """Refuse a description that is no node of this family."""
        check_options(spec.family, cls.OPTIONS, f"model.nodes.{spec.name}.family")
        check_prior(spec, cls.PRIOR)
        if spec.size is None or spec.size < 1:
            raise SpecError(f"node '{spec.name}': needs a size, the number of its classes or dimensions")

    @classmethod
    def describe(cls, labels: Tensor, classes: int | None) -> dict[str, Any]:
        """Return settings of the node for some labels ``(N,)`` or ``(N, D)``, with their number of classes if known."""
        return {"size": 1 if labels.ndim == 1 else labels.shape[1]}

    @classmethod
    def class_count(cls, size: int) -> int:
        """Return the number of classes of a node of this size; 0 for numbers."""
        return 0

    @classmethod
    def measure_for(cls, kind: str) -> str:
        """Return the name of the measure for labels of a kind: the error of classes, or the family's for numbers."""
        return cls.measure if kind == "continuous" else "error"

    @classmethod
    def settings(cls, size: int) -> Settings | None:
        """Return values at which a node is shown in pictures; None if there are no obvious ones."""
        return None

    @classmethod
    def from_standard(cls, spec: NodeSpec, standard: Tensor) -> Tensor:
        """Return values of the node a number of standard deviations from the prior's mean, ``(..., D)``."""
        return standard

    @classmethod
    def partly_labeled(cls, size: int, count: int) -> Tensor:
        """Return labels of ``count`` items: a valid value for the first, unknown for the others."""
        labels = torch.full((count, size), float("nan"))
        labels[0] = torch.eye(size)[0]
        return labels

    # ---- the node's sites -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def parameters_size(self) -> int:
        """How many numbers the network must give."""

    @property
    def value_size(self) -> int:
        """How many numbers other networks see of it: the size of :meth:`features`."""
        return self.size

    def features(self, value: Tensor) -> Tensor:
        """The value in the form other networks take."""
        return value

    @abstractmethod
    def site(
        self, trace: Trace, outputs: Tensor, value: Any, temperature: Tensor, gradient: str | None
    ) -> Tensor:
        """The site with parameters given by a network."""

    def recognize(self, q: Trace, outputs: Tensor, value: Any, temperature: Tensor) -> Tensor:
        """Add the site of the encoder, drawn with the gradient that the description names."""
        return self.site(q, outputs, value, temperature, self.spec.gradient or self.default_gradient)

    def generate(self, p: Trace, outputs: Tensor, value: Any, temperature: Tensor) -> Tensor:
        """Add the site of the decoder; if it must be drawn, as an exact value and not as a relaxed one."""
        return self.site(p, outputs, value, temperature, self.generating_gradient)

    @abstractmethod
    def prediction(self, dist: Any) -> SitePrediction:
        """The mode of an encoder's distribution and its confidence, without gradient."""

    @abstractmethod
    def prior_outputs(self) -> Tensor:
        """Outputs that stand for the standard prior: unit Gaussian, uniform classes, any direction."""
