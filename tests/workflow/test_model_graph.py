"""The graph of a trained model."""

from __future__ import annotations

import numpy as np
import torch

from unknot import StructuredVAE
from unknot.data.factor import Factor
from unknot.workflow.model_graph import model_graph, one_known


def test_labeled_factors_are_partly_observed() -> None:
    x = np.random.default_rng(0).random((40, 1, 8, 8)).astype(np.float32)
    vae = StructuredVAE("class_style", style=2, steps=2, cross_fit=0, verbose=False, verdict=False)
    vae.fit(x, digit=np.arange(40) % 3)
    made = model_graph(vae.trained_, vae._labeled(x, None, {"digit": np.arange(40) % 3}))
    assert {node.name: node.kind for node in made.nodes} == {
        "digit": "partly observed", "style": "latent", "x": "observed",
    }  # fmt: skip


def test_one_label_is_known() -> None:
    labels = Factor("y", "categorical", torch.tensor([-1, 2, 1]), ("a", "b", "c"))
    assert one_known(labels).tolist() == [2, -1, -1, -1]
