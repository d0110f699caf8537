"""The ledger: it goes on where it was, never mixes settings, and shows misses."""

import json

import pytest

from unknot.errors import SpecError
from unknot.experiments.experiment import Experiment, Published
from unknot.experiments.ledger import Job, read_result, reproduce, summarise
from unknot.experiments.registry import experiment
from unknot.experiments.results_page import results_page

PUBLISHED = {"ours": [Published("S17", 9.71, 0.91)]}


def toy(run, cases=({"row": "ours", "labels": 100},)) -> Experiment:
    return Experiment(
        "toy", "S17 Fig. 3", "A toy.", lambda tier: cases, run, "error", "%", "lower", {}, PUBLISHED
    )


@pytest.fixture
def in_process(monkeypatch):
    """The registry knows the toy, so that jobs find it as they find real experiments."""

    def install(one: Experiment) -> Experiment:
        monkeypatch.setattr("unknot.experiments.registry.EXPERIMENTS", {one.name: one})
        return one

    return install


def test_an_interrupted_reproduction_goes_on_where_it_was(tmp_path, in_process) -> None:
    done = []

    def run(case, seed):
        if seed == 2 and len(done) == 2:
            done.append("interrupted")
            raise KeyboardInterrupt
        done.append(seed)
        return {"error": 5.0 + seed}

    one = in_process(toy(run))
    with pytest.raises(KeyboardInterrupt):
        reproduce(one, "quick", 3, tmp_path, 1, lambda text: None)
    assert read_result(tmp_path, "toy") is None
    content = reproduce(one, "quick", 3, tmp_path, 1, lambda text: None)
    assert done == [0, 1, "interrupted", 2]
    assert content["summary"][0]["numbers"]["error"] == {"mean": 6.0, "sd": 1.0, "values": [5.0, 6.0, 7.0]}
    assert json.loads((tmp_path / "toy.json").read_text()) == content
    assert sorted(p.name for p in tmp_path.iterdir()) == ["toy.json"]


def test_other_settings_are_another_job() -> None:
    one = Job("toy", {"row": "ours", "labels": 100}, 0)
    assert one.key == Job("toy", {"labels": 100, "row": "ours"}, 0).key
    assert one.key != Job("toy", {"row": "ours", "labels": 600}, 0).key
    assert one.key != Job("toy", {"row": "ours", "labels": 100}, 1).key


def test_smoke_runs_do_not_take_the_place_of_results(tmp_path, in_process) -> None:
    one = in_process(toy(lambda case, seed: {"error": 1.0}))
    reproduce(one, "quick", 1, tmp_path, 1, lambda text: None)
    reproduce(one, "smoke", 1, tmp_path, 1, lambda text: None)
    result = read_result(tmp_path, "toy")
    assert result is not None
    assert result["tier"] == "quick"


def test_the_page_shows_misses_and_what_has_not_been_run(tmp_path, in_process) -> None:
    one = in_process(toy(lambda case, seed: {"error": 12.0}))
    assert "Not run yet" in results_page([one], tmp_path)
    reproduce(one, "quick", 2, tmp_path, 1, lambda text: None)
    page = results_page([one], tmp_path)
    assert "**12.00 ± 0.00**" in page
    assert "**misses S17**" in page
    assert "| S17 [P] | 9.71 ± 0.91 |" in page
    in_process(better := toy(lambda case, seed: {"error": 3.0}))
    reproduce(better, "quick", 2, tmp_path, 1, lambda text: None)
    assert "reaches S17" in results_page([better], tmp_path)


def test_summaries_keep_cases_apart() -> None:
    runs = [
        {"case": {"row": row}, "numbers": {"error": value}, "seconds": 1.0}
        for row, value in [("a", 1.0), ("b", 5.0), ("a", 3.0)]
    ]
    rows = {row["case"]["row"]: row for row in summarise(runs)}
    assert rows["a"]["numbers"]["error"]["mean"] == 2.0
    assert rows["b"]["numbers"]["error"]["sd"] is None


def test_unknown_experiments_are_refused_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="did you mean 'mnist-demo'"):
        experiment("mnist-demmo")
