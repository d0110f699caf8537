"""The supervision rates that are run, and that a share in the batch is a weight in the objective."""

from pathlib import Path

import pytest
import torch

from experiments.digits.mnist_supervision_rate import (
    ALONE,
    LABELS,
    SMALLEST,
    THEIRS,
    cases,
    plot,
)
from unknot.data import load
from unknot.objectives.supervision import supervision_weight


def test_every_rate_of_the_paper_is_run_and_none_below_the_natural_one() -> None:
    found = {(case["labels"], case["column"]): case["train"]["labeled_share"] for case in cases("quick")}
    for labels in LABELS:
        natural = labels / 60000
        rates = {column: rate for (m, column), rate in found.items() if m == labels and column != ALONE}
        assert rates[SMALLEST] == pytest.approx(natural)
        assert min(rates.values()) == rates[SMALLEST]
        assert len(set(rates.values())) == len(rates)
        assert set(THEIRS[labels][1]) <= set(rates)
        assert rates["ρ = 1"] == 1.0
        assert found[labels, ALONE] == 1.0


def test_a_share_in_the_batch_is_a_weight_in_the_objective() -> None:
    """Over an epoch, the mean with a labeled share ρ is that with the weight γ(ρ), up to one factor."""
    data = load("digits").split("train")
    shown, rate = 100, 0.3
    hidden = data.factors["digit"].hide(torch.arange(len(data)) < shown)
    data = type(data)(**{**data.__dict__, "factors": {"digit": hidden}})
    known = hidden.known
    generator = torch.Generator().manual_seed(0)
    loss = torch.rand(len(data), generator=generator).double() + 3 * known  # of each item
    by_id = dict(zip(data.ids.tolist(), loss.tolist(), strict=True))
    seen = [
        torch.tensor([by_id[i] for i in batch.ids.tolist()]).mean()
        for batch in data.batches(50, seed=0, labeled_share=rate)
    ]
    gamma = supervision_weight(rate, shown, len(data) - shown)
    weighted = torch.where(known, gamma, 1.0) * loss
    factor = (len(data) - shown + gamma * shown) / len(data)
    assert float(torch.stack(seen[:-1]).mean()) == pytest.approx(float(weighted.mean() / factor), abs=0.02)


def test_the_plot_draws_our_curve_and_theirs(tmp_path: Path) -> None:
    row = cases("quick")[0]
    content = {"summary": [{"case": row, "numbers": {"error": {"mean": 9.0, "sd": None}}}]}
    plot(content, tmp_path)
    assert (tmp_path / "supervision-rate.png").stat().st_size > 1000
