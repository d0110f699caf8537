"""Every experiment runs: its smoke tier, without any data folder, from the first step to the page."""

import json
from pathlib import Path

import pytest

from experiments.ledger.ledger import reproduce
from experiments.ledger.registry import EXPERIMENTS
from experiments.ledger.result_tables import result_tables


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_smoke_tier_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("UNKNOT_DATA", "UNKNOT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(place, str(tmp_path / "nothing"))
    one = EXPERIMENTS[name]
    content = reproduce(one, "smoke", 1, tmp_path, 1, lambda text: None)
    assert content["not_run"] == []
    keys = {measure.key for measure in one.measures}
    for run in content["runs"]:
        assert set(run["numbers"]) <= keys
    reported = {key for run in content["runs"] for key in run["numbers"]}
    assert reported == keys  # no measure that nothing reports
    pictures = [*content["plots"], *(picture for run in content["runs"] for picture in run["figures"])]
    for picture in pictures:
        assert (tmp_path / "figures" / f"{name}-smoke" / picture).stat().st_size > 1000
        assert any(Path(picture).stem.endswith(stem) for stem in one.captions)
    assert any("|" in line for line in result_tables(one, content))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_declarations_fit_together(name: str) -> None:
    one = EXPERIMENTS[name]
    assert set(one.budgets) >= {"smoke", "quick"}
    sources = {yardstick.source for yardstick in one.yardsticks}
    cases = one.cases("quick")
    places = [(case["row"], case.get("column", "")) for case in cases]
    assert len(set(places)) == len(places)
    columns = {column for _, column in places}
    assert all(set(yardstick.values) <= columns for yardstick in one.yardsticks)
    assert json.loads(json.dumps(cases)) == [
        dict(case) for case in cases
    ]  # plain settings, as the file has them
    assert set(one.judged.values()) <= sources
    assert set(one.judged) <= {row for row, _ in places}
