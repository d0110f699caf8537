"""fashion-hfvae: the garment as a class that nobody labelled (E19 sec. 5.1)."""

from __future__ import annotations

from unknot.papers.class_discovery import experiment

EXPERIMENT = experiment("fashion-hfvae", "fashion-mnist", "E19 sec. 5.1, Fashion-MNIST", goals=(64.0, 60.0))
