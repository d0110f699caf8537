"""The ledger: it goes on where it was, never mixes settings, and loses nothing."""

import json
from functools import partial
from pathlib import Path

import pytest

from experiments.ledger.experiment import Experiment
from experiments.ledger.jobs import Job, run_job
from experiments.ledger.ledger import read_result, reproduce, summarize
from experiments.ledger.registry import experiment
from tests.experiments.toy import CASE, OTHER, constant, install, png, toy
from unknot.errors import RunError, SpecError
from unknot.parallel.processes import run_all


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch):
    return lambda one: install(monkeypatch, one)


def make(one: Experiment, folder: Path, seeds: int = 1, tier: str = "quick", **more):
    return reproduce(one, tier, seeds, folder, 1, lambda text: None, **more)


def visible(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.name[0] != ".")


def test_an_interrupted_reproduction_goes_on_where_it_was(tmp_path, known) -> None:
    done = []

    def run(settings, seed, pictures):
        if seed == 2 and len(done) == 2:
            done.append("interrupted")
            raise KeyboardInterrupt
        done.append(seed)
        return {"error": 5.0 + seed}

    one = known(toy(run))
    with pytest.raises(KeyboardInterrupt):
        make(one, tmp_path, 3)
    assert [r["seed"] for r in read_result(tmp_path, "toy")["runs"]] == [0, 1]
    content = make(one, tmp_path, 3)
    assert done == [0, 1, "interrupted", 2]
    assert content["summary"][0]["numbers"]["error"] == {"mean": 6.0, "sd": 1.0, "values": [5.0, 6.0, 7.0]}
    assert read_result(tmp_path, "toy") == content
    assert visible(tmp_path) == ["toy.json"]


def test_one_failure_costs_nothing_but_itself(tmp_path, known) -> None:
    def run(settings, seed, pictures):
        if seed == 1:
            raise ValueError("not today")
        return {"error": float(seed)}

    told: list[str] = []
    one = known(toy(run))
    with pytest.raises(
        RunError, match=r"1 of 3 trainings failed.*ours, M = 100, seed 1.*ValueError: not today"
    ):
        reproduce(one, "quick", 3, tmp_path, 1, told.append)
    assert [r["seed"] for r in read_result(tmp_path, "toy")["runs"]] == [0, 2]
    assert any("not today" in text and "Traceback" in text for text in told)


def test_what_is_done_is_kept_and_not_done_twice(tmp_path, known) -> None:
    done = []

    def run(settings, seed, pictures):
        done.append((settings["labels"], seed))
        return {"error": 1.0}

    one = known(toy(run, [CASE, OTHER]))
    content = make(one, tmp_path, only=["M = 100"])
    assert done == [(100, 0)]  # not M = 1000, of which M = 100 is a part
    assert content["not_run"] == [{"row": "ours", "column": "M = 1000"}]
    content = make(one, tmp_path, only=["1000"])
    assert content["not_run"] == []
    make(one, tmp_path, 2)
    assert done == [(100, 0), (1000, 0), (100, 1), (1000, 1)]
    make(one, tmp_path, 1, again=True)
    assert done[4:] == [(100, 0), (1000, 0)]
    assert len(read_result(tmp_path, "toy")["runs"]) == 4  # the other seeds stay


def test_a_file_of_the_format_before_is_read_and_goes_on(tmp_path, known) -> None:
    """Format 2: every run repeats its case and machine, and the summary lies beside the runs."""
    one = known(toy(constant(1.0), [CASE, OTHER]))
    content = make(one, tmp_path, only=["M = 100"])
    old = json.dumps({**content, "format": 2}, indent=1)
    (tmp_path / "toy.json").write_text(old)
    assert read_result(tmp_path, "toy") == {**content, "format": 2}
    both = make(one, tmp_path)
    assert [run["numbers"] for run in both["runs"]] == [{"error": 1.0}] * 2
    assert both["runs"][0] == content["runs"][0]
    assert read_result(tmp_path, "toy") == both
    assert json.loads((tmp_path / "toy.json").read_text())["format"] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is damaged"),
        ("[]", "is damaged"),
        ("null", "is damaged"),
        ("{}", "is damaged"),
        ('{"format": 3}', "is damaged"),
        ('{"format": 3, "made": {}, "rows": [{"case": {}, "runs": [1]}]}', "is damaged"),
        ('{"format": 4, "rows": []}', "has format 4, which this version does not read"),
    ],
)
def test_a_file_that_cannot_be_read_is_never_taken_for_no_result(
    tmp_path, known, text: str, message: str
) -> None:
    (tmp_path / "toy.json").write_text(text)
    with pytest.raises(RunError, match=rf"toy\.json {message}"):
        make(known(toy(constant(1.0), [CASE])), tmp_path)
    assert (tmp_path / "toy.json").read_text() == text


def test_settings_that_are_gone_are_dropped_and_new_names_are_taken(tmp_path, known) -> None:
    make(known(toy(constant(1.0), [CASE, OTHER])), tmp_path)
    told: list[str] = []
    renamed = known(toy(constant(2.0), [{**CASE, "row": "best"}, {**OTHER, "labels": 3000}]))
    content = reproduce(renamed, "quick", 1, tmp_path, 1, told.append)
    assert told[0] == "1 runs are removed: no case has their settings"
    assert [(r["case"]["row"], r["numbers"]["error"]) for r in content["runs"]] == [
        ("best", 1.0),
        ("ours", 2.0),
    ]


def test_cases_with_the_same_settings_are_one_training_in_two_rows(tmp_path, known) -> None:
    content = make(known(toy(constant(1.0), [CASE, {**CASE, "row": "ablation: nothing left out"}])), tmp_path)
    assert len(content["runs"]) == 1
    assert [r["case"]["row"] for r in content["summary"]] == ["ours", "ablation: nothing left out"]


def test_runs_see_settings_and_no_names(tmp_path, known) -> None:
    seen = []

    def run(settings, seed, pictures):
        seen.append(dict(settings))
        return {"error": 1.0}

    make(known(toy(run)), tmp_path)
    assert seen == [{"labels": 100}]


def test_other_settings_are_another_job() -> None:
    one = Job("toy", CASE, 0)
    assert one.key == Job("toy", {"labels": 100, "row": "another name"}, 0).key
    assert one.key != Job("toy", {**CASE, "labels": 600}, 0).key
    assert one.key != Job("toy", CASE, 1).key


def test_unknown_cases_are_refused(tmp_path, known) -> None:
    with pytest.raises(SpecError, match=r"--only 'M = 7'.*ours, M = 100"):
        make(known(toy(constant(1.0))), tmp_path, only=["M = 7"])


def test_smoke_runs_do_not_take_the_place_of_results(tmp_path, known) -> None:
    def run(settings, seed, pictures):
        png(pictures / "digits.png", shade=settings["labels"])
        return {"error": 1.0}

    one = known(toy(run))
    make(one, tmp_path)
    real = (tmp_path / "figures/toy/digits.png").read_bytes()
    make(known(toy(run, [{**CASE, "labels": 7}])), tmp_path, tier="smoke")
    assert read_result(tmp_path, "toy")["tier"] == "quick"
    assert (tmp_path / "figures/toy/digits.png").read_bytes() == real
    assert "figures/toy-smoke/digits.png" in visible(tmp_path)


def test_pictures_are_those_of_the_first_seed_and_of_cases_that_there_are(tmp_path, known) -> None:
    def run(settings, seed, pictures):
        assert (pictures is not None) == (seed == 0)
        if pictures is not None:
            png(pictures / "digits.png")
        return {"error": 1.0}

    def plot(content, folder):
        png(folder / "curve.png", shade=len(content["runs"]))

    content = make(known(toy(run, [CASE, OTHER], plot=plot)), tmp_path, 2)
    figures = ["curve.png", "ours-m-100-digits.png", "ours-m-1000-digits.png"]
    assert visible(tmp_path) == [*(f"figures/toy/{name}" for name in figures), "toy.json"]
    assert content["plots"] == ["curve.png"]
    assert [run["figures"] for run in content["runs"]] == [[figures[1]], [], [figures[2]], []]
    make(known(toy(run, [OTHER], plot=plot)), tmp_path)  # what was drawn for a case that is gone goes too
    assert visible(tmp_path) == ["figures/toy/curve.png", "figures/toy/ours-m-1000-digits.png", "toy.json"]


def test_pictures_survive_an_interrupt(tmp_path, known) -> None:
    def run(settings, seed, pictures):
        if seed == 1 and not (tmp_path / "go").exists():
            raise KeyboardInterrupt
        if pictures is not None:
            png(pictures / "digits.png")
        return {"error": 1.0}

    one = known(toy(run))
    with pytest.raises(KeyboardInterrupt):
        make(one, tmp_path, 2)
    (tmp_path / "go").touch()
    make(one, tmp_path, 2)
    assert "figures/toy/digits.png" in visible(tmp_path)


def test_summaries_keep_cases_apart() -> None:
    runs = [
        {"case": {"row": row}, "numbers": {"error": value}, "cpu_seconds": 1.0}
        for row, value in [("a", 1.0), ("b", 5.0), ("a", 3.0)]
    ]
    rows = {row["case"]["row"]: row for row in summarize(runs)}
    assert rows["a"]["numbers"]["error"]["mean"] == 2.0
    assert rows["b"]["numbers"]["error"]["sd"] is None


def test_unknown_experiments_are_refused_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="did you mean 'mnist-demo'"):
        experiment("mnist-demmo")


@pytest.mark.slow
def test_processes_return_what_one_would() -> None:
    case = experiment("mnist-demo").cases("smoke")[0]
    jobs = [Job("mnist-demo", case, seed) for seed in (0, 1)]
    jobs.append(Job("mnist-demo", {**case, "data": "no such data"}, 0))
    work = partial(run_job, revision="now")
    made = {job.key: result for job, result in run_all(work, jobs, 2)}
    assert isinstance(made[jobs[2].key], Exception)
    for job, result in run_all(work, jobs[:2], 1):
        assert made[job.key].record["numbers"] == result.record["numbers"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.usefixtures("two_ray_workers")
def test_a_cluster_fills_the_same_ledger(tmp_path: Path) -> None:
    one = experiment("decomposition-toy")
    away = reproduce(one, "smoke", 1, tmp_path / "away", 1, lambda text: None, ray="auto")
    here = reproduce(one, "smoke", 1, tmp_path / "here", 1, lambda text: None)
    assert [run["numbers"] for run in away["runs"]] == [run["numbers"] for run in here["runs"]]
    assert away["runs"][0]["revision"] == here["runs"][0]["revision"]
    assert away["plots"] == here["plots"]


def test_a_cell_never_mixes_code_and_new_code_replaces_the_old_when_it_has_as_many_seeds(
    tmp_path, known, monkeypatch
) -> None:
    def of_code(digest: str, seeds: int):
        for place in ("jobs", "ledger"):
            monkeypatch.setattr(f"experiments.ledger.{place}.closure_digest", lambda module: digest)
        return make(known(toy(constant(float(digest)))), tmp_path, seeds)["summary"][0]["numbers"]["error"][
            "values"
        ]

    assert of_code("1", 2) == [1.0, 1.0]
    assert of_code("2", 1) == [1.0, 1.0]  # one seed waits
    assert of_code("2", 2) == [2.0, 2.0]
    assert len(json.loads((tmp_path / "toy.json").read_text())["rows"][0]["runs"]) == 2
    assert of_code("1", 1) == [2.0, 2.0]


def test_runs_of_the_same_code_are_not_repeated_and_others_are(tmp_path, known, monkeypatch) -> None:
    told: list[str] = []
    one = known(toy(constant(1.0)))
    for _ in range(2):
        reproduce(one, "quick", 1, tmp_path, 1, told.append)
    assert told[-1] == "1 of 1 trainings are done already"
    monkeypatch.setattr("experiments.ledger.ledger.closure_digest", lambda module: "other")
    reproduce(one, "quick", 1, tmp_path, 1, told.append)
    assert told[-2].startswith("1 runs are of other code")
    assert told[-1].startswith("ours, M = 100, seed 0")
