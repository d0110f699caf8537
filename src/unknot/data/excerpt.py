"""The beginning of a document, for tables that people read."""

from __future__ import annotations

import torch

from unknot.data.dataset import Dataset
from unknot.data.likely_words import likely_words
from unknot.data.text_dataset import TextDataset

LONGEST = 120  # characters


def excerpt(data: Dataset, row: int) -> str:
    """How the text of an item begins; of counts without a text, its commonest words."""
    if isinstance(data, TextDataset) and data.texts:
        text = " ".join(data.texts[row].split())
        return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " ..."
    counts = data.x[torch.tensor([row])].numpy()
    return str(likely_words(data.columns, counts)[0])
