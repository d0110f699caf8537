"""Capacities by variable against divergences in closed form."""

from __future__ import annotations

import pytest
import torch
from torch.distributions import Categorical, kl_divergence

from unknot import Trace
from unknot.errors import SpecError
from unknot.objectives.literature import capacity_vae
from unknot.objectives.parts.literature_terms import excess_by_site


def traces() -> tuple[Trace, Trace]:
    torch.manual_seed(0)
    q, p = Trace(), Trace()
    logits = torch.randn(6, 3)
    c = q.concrete(logits, 0.66, name="c")
    z = q.normal(torch.randn(6, 2), 0.5, name="z")
    p.concrete(torch.zeros(3), 0.66, value=q["c"], name="c")
    p.normal(torch.zeros(2), 1.0, value=q["z"], name="z")
    p.normal((c.sum(-1) + z.sum(-1))[:, None], 1.0, value=torch.zeros(6, 1), name="x")
    return q, p


def test_a_class_uses_the_nats_of_its_masses_and_a_style_those_of_its_draw():
    q, p = traces()
    found = excess_by_site(q, p, {"c": 1.0, "z": 2.0})
    exact = kl_divergence(Categorical(logits=q["c"].dist.logits), Categorical(logits=torch.zeros(3)))
    assert float(found["capacity[c]"]) == pytest.approx(float(exact.mean()) - 1.0, abs=1e-5)
    drawn = (q["z"].log_prob - p["z"].log_prob).mean()
    assert float(found["capacity[z]"]) == pytest.approx(float(drawn) - 2.0, abs=1e-5)


def test_the_objective_pays_for_each_distance():
    q, p = traces()
    terms = capacity_vae(q, p, gamma=30.0, C={"c": 0.5, "z": 9.0})
    excess = excess_by_site(q, p, {"c": 0.5, "z": 9.0})
    paid = 30 * sum(abs(float(value)) for value in excess.values())
    assert float(terms.total) == pytest.approx(float(p["x"].log_prob.mean()) - paid, rel=1e-5)
    assert set(terms) == {"reconstruction", "capacity[c]", "capacity[z]"}


@pytest.mark.parametrize(
    ("capacities", "says"), [({"c": 1.0, "y": 1.0}, "no variable 'y'"), ({"c": 1.0}, "no capacity for z")]
)
def test_a_variable_too_many_or_too_few_is_refused(capacities, says):
    with pytest.raises(SpecError, match=says):
        excess_by_site(*traces(), capacities)
