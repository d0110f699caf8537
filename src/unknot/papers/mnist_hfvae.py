"""mnist-hfvae: the digit as a class that nobody labelled (E19 Figs. 4 and 5)."""

from __future__ import annotations

from unknot.papers.class_discovery import experiment

EXPERIMENT = experiment("mnist-hfvae", "mnist", "E19 Figs. 4 and 5, MNIST", goals=(96.0, 88.0))
