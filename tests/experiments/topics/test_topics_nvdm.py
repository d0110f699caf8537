"""topics-nvdm: the rows, ours and what a user would do instead."""

from experiments.topics.topics_nvdm import EXPERIMENT


def test_rows() -> None:
    rows = [case["row"] for case in EXPERIMENT.cases("quick")]
    assert rows[:2] == ["VAE(50)", "HFVAE(25 + 25)"]
    assert rows[-3:] == ["word frequencies alone", "scikit-learn's LDA, online", "tomotopy's LDA, Gibbs"]
    assert set(EXPERIMENT.judged) <= set(rows)
