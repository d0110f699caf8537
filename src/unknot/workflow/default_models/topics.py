"""Topics: the default model of texts with labels of one factor with classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from unknot.data.cell_dataset import CellDataset
from unknot.data.dataset import Dataset
from unknot.data.sparse_counts import SparseCounts
from unknot.models.ensemble.spec import free_name
from unknot.models.spec import ModelSpec, read_spec
from unknot.schema import setting
from unknot.workflow.default_models.base import NOTHING, STYLE, DefaultModel
from unknot.workflow.labels import class_count, raters_of


@dataclass(frozen=True)
class Topics(DefaultModel):
    """Texts with labels of one factor with classes: each class has its own words, and is inferred by Bayes' rule.

    Counts are weighted by tf-idf. The prior of each class counts as two thousand words of the corpus, from ten labels
    per class on as two hundred words per label: with many labels the term of the labels counts each of them many
    times, and only a prior that grows with them prevents overfitting.
    """

    name: ClassVar[str] = "topics"
    style: int | None = setting(STYLE, "topics beside the class; by default none", None)

    PRIOR_WORDS: ClassVar[tuple[float, float]] = (2000.0, 200.0)  # of a class, and for each of its labels

    @classmethod
    def unsuitable(cls, data: Dataset) -> str:
        is_text = isinstance(data.x, SparseCounts) and not isinstance(data, CellDataset)
        if not is_text or len(data.factors) != 1 or data.given:
            return "is for texts with labels of one factor"
        factor = next(iter(data.factors.values()))
        known = factor.kind in ("categorical", "binary") and bool(factor.observed.any())
        return "" if known else "needs labels that are classes"

    def spec(self, data: Dataset) -> ModelSpec:
        (name, factor), x = next(iter(data.factors.items())), free_name("x", data.factors)
        size = class_count(factor)
        encoder = {"encoder": "bayes", "inferred_from": [x]}
        nodes: dict[str, Any] = {
            name: {
                "family": "categorical",
                "size": size,
                "labels": True,
                "raters": raters_of(factor),
                **encoder,
            }
        }
        if self.style:
            topics = {"family": "normal", "size": self.style, "inferred_from": [x]}
            nodes[free_name("topics", data.factors)] = topics
        least, per_label = self.PRIOR_WORDS
        words: dict[str, Any] = {"name": "multinomial"}
        words["prior_words"] = max(least, per_label * int(factor.known.sum()) / size)
        if not data.x.dtype.is_floating_point:  # words are weighted already otherwise
            words["weights"] = "tfidf"
        nodes[x] = {"family": words, "parents": list(nodes)}
        return read_spec({"nodes": nodes})

    def training(self, data: Dataset, given: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
        made = super().training(data, given)
        return {**made, "batch_size": min(made["batch_size"], len(data))}

    def _training(self, data: Dataset) -> dict[str, Any]:
        # Few steps at a low rate: the words of the classes begin where naive Bayes with EM ends.
        return {
            "objective": {"name": "semi_supervised", "alpha": 30.0},
            "steps": 300,
            "batch_size": 256,
            "learning_rate": {"name": "cosine", "start": 1e-2, "end": 0.0, "warmup": 20},
            "betas": [0.9, 0.99],
            "labeled_share": None,
        }
