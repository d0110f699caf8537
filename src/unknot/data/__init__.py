"""Data sets as tensors, their factors and splits, and label budgets."""

from unknot.data.batch import Batch
from unknot.data.dataset import Dataset
from unknot.data.factor import Factor
from unknot.data.from_arrays import from_arrays
from unknot.data.hierarchy import Hierarchy
from unknot.data.hold_out import hold_out
from unknot.data.label_budget import LabelBudget
from unknot.data.label_evidence import Votes
from unknot.data.label_rule import per, same_as
from unknot.data.sets.loading import load, names
from unknot.data.sparse_counts import SparseCounts
from unknot.data.stored_items import PackedBits
from unknot.data.text_dataset import TextDataset, from_texts

__all__ = [
    "Batch",
    "Dataset",
    "Factor",
    "Hierarchy",
    "LabelBudget",
    "PackedBits",
    "SparseCounts",
    "TextDataset",
    "Votes",
    "from_arrays",
    "from_texts",
    "hold_out",
    "load",
    "names",
    "per",
    "same_as",
]
