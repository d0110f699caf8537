"""A run's model without the run's data."""

import numpy as np
import pytest
import torch

from unknot.cli import main
from unknot.errors import RunError
from unknot.seal import open_sealed_json, sealed_json
from unknot.workflow.recipe import Recipe
from unknot.workflow.run import open_run, train_recipe
from unknot.workflow.trained_model import TrainedModel


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Words as classes, a file that is deleted after training."""
    folder = tmp_path_factory.mktemp("kept")
    rng = np.random.default_rng(0)
    images = (rng.random((60, 8, 8)) * 255).astype(np.uint8)
    words = np.array(["odd", "even"])[np.arange(60) % 2]
    np.savez(folder / "mine.npz", x=images, parity=words)
    recipe = Recipe({"file": str(folder / "mine.npz")}, train={"steps": 2, "batch_size": 20})
    train_recipe(recipe, folder / "run")
    same = open_run(folder / "run").model.module.state_dict()
    (folder / "mine.npz").unlink()
    np.savez(folder / "new.npz", x=images[:5])
    return folder, same


def test_the_weights_and_the_classes_are_those_of_the_run(run) -> None:
    folder, weights = run
    kept = TrainedModel.load(folder / "run")
    for name, value in kept.module.state_dict().items():
        assert torch.equal(value, weights[name]), name
    assert kept.data.factors["parity"].classes == ("even", "odd")
    assert len(kept.data) == 0


def test_predicting_and_sampling_need_no_training_data(run) -> None:
    folder, _ = run
    main_ok(["predict", str(folder / "run"), str(folder / "new.npz"), "-o", str(folder / "table.csv")])
    lines = (folder / "table.csv").read_text().splitlines()
    assert lines[0] == "row,parity,parity probability,parity set,novelty"
    assert {line.split(",")[1] for line in lines[1:]} <= {"even", "odd"}
    sample = ["sample", str(folder / "run"), "-n", "3", "--set", "parity=odd", "-o", str(folder / "s.npz")]
    main_ok(sample)
    assert np.load(folder / "s.npz")["x"].shape == (3, 1, 8, 8)


def test_a_damaged_file_is_one_sentence(run, tmp_path) -> None:
    folder, _ = run
    path = folder / "run" / "model.json"
    whole = path.read_text()
    try:
        path.write_text(whole[:50])
        with pytest.raises(RunError, match=r"model\.json is damaged"):
            TrainedModel.load(folder / "run")
        for older in ({"spec": {}}, {**open_sealed_json(whole.encode()), "format": 2}):
            path.write_bytes(sealed_json(older))
            with pytest.raises(RunError, match="was saved by another version"):
                TrainedModel.load(folder / "run")
    finally:
        path.write_text(whole)


def main_ok(words: list[str]) -> None:
    """Run the command; it must end well."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code in (0, None)
