"""Values of discrete sites before a group: every combination, or none where there is no list."""

import torch

import unknot
from tests.objectives.marginal.structured_programs import Encoder, data
from unknot.objectives.prior.prior_parents import combinations

double = torch.float64


def test_a_relaxed_parent_has_no_list_of_values():
    q = Encoder()(data())
    assert combinations([q["y"]]) is None
    assert combinations([q["z"]]) is None
    hard = Encoder("straight_through")(data())["y"]
    listed = combinations([hard])
    assert listed is not None
    torch.testing.assert_close(listed["y"], torch.eye(4, dtype=double))
    assert combinations([hard] * 7) is None  # 4^7 are too many


def test_combinations_run_over_all_values_of_all_sites():
    q = unknot.Trace()
    q.categorical(logits=torch.zeros(2, 3), name="a")
    q.bernoulli(logits=torch.zeros(2), name="b", event_dims=0)
    listed = combinations([q["a"], q["b"]])
    assert listed is not None
    pairs = list(zip(listed["a"].tolist(), listed["b"].tolist(), strict=True))
    assert sorted(pairs) == [(a, float(b)) for a in range(3) for b in range(2)]
    assert combinations([]) == {}
