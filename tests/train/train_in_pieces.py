"""A training run in a process of its own, for tests that kill it: ``train_in_pieces.py RUN STEPS [KEY=VALUE]``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tests.train.programs import digits, model, plain_elbo
from unknot.errors import RunError
from unknot.train import RunFolder, TrainConfig, fit


def main(folder: str, steps: int, settings: dict[str, object], output: int = 1) -> None:
    """Train in ``folder``, from its last checkpoint on, and write the number of each finished step."""
    path = Path(folder)
    run = RunFolder.open(path) if path.exists() else RunFolder.create(path)
    config = TrainConfig(
        objective=plain_elbo,
        steps=steps,
        batch_size=32,
        labeled_share=0.25,
        learning_rate={"name": "cosine", "start": 3e-3, "end": 0.0, "warmup": 10},
        temperature={"name": "exponential", "start": 1.0, "end": 0.5},
        average_weights=0.9,
        patience=10_000,  # never reached: its counter is a part of the state that is restored
        checkpoint_every=7,
        log_every=5,
        validate_every=20,
        device="cpu",
        **settings,  # type: ignore[arg-type]
    )
    trained = model()

    def likelihood(judged: object) -> float:
        _, p = trained(digits().batch(range(64)))
        return float(p.log_prob().mean())

    def tell(step: int, record: object) -> None:
        os.write(output, f"{step}\n".encode())

    result = fit(trained, digits(), config, run, likelihood, on_step=tell)
    os.write(output, f"{result.stopped_because}\n".encode())


if __name__ == "__main__":
    given = {key: json.loads(value) for key, value in (word.split("=") for word in sys.argv[3:])}
    try:
        main(sys.argv[1], int(sys.argv[2]), given)
    except RunError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from error
