"""Train under ``torchrun``: ``train_in_processes.py RUN OBJECTIVE``, where OBJECTIVE is JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.train.programs import digits, model
from unknot.train import RunFolder, TrainConfig, fit

if __name__ == "__main__":
    objective = json.loads(sys.argv[2])
    config = TrainConfig(
        objective=objective,
        steps=20,
        batch_size=64,
        labeled_share=0.25,
        clip_norm=100.0,
        checkpoint_every=10,
        log_every=5,
        average_weights=0.9,
        device="cpu",
    )
    path = Path(sys.argv[1])  # made by the test: processes must not race to make it
    independent = objective["name"] == "hfvae"  # which needs q(z | x), not q(z | x, y)
    fit(model(independent=independent), digits(), config, RunFolder.open(path))
