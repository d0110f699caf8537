"""The site methods: one contract for all families, and torch's own argument names."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

import unknot
from unknot.core.sites import Sites

FAMILIES = {
    "normal": {"loc": torch.zeros(4, 2), "scale": 1.0},
    "log_normal": {"loc": torch.zeros(4, 2), "scale": 1.0},
    "laplace": {"loc": torch.zeros(4, 2), "scale": 1.0},
    "student_t": {"df": torch.full((4, 2), 3.0)},
    "uniform": {"low": torch.zeros(4, 2), "high": 1.0},
    "beta": {"concentration1": torch.ones(4, 2), "concentration0": 2.0},
    "gamma": {"concentration": torch.ones(4, 2), "rate": 1.0},
    "dirichlet": {"concentration": torch.ones(4, 2)},
    "multivariate_normal": {"loc": torch.zeros(4, 2), "covariance_matrix": torch.eye(2)},
    "von_mises": {"loc": torch.zeros(4, 2), "concentration": torch.tensor(2.0)},
    "concrete": {"logits": torch.zeros(4, 2), "temperature": 0.5},
    "relaxed_bernoulli": {"temperature": 0.5, "logits": torch.zeros(4, 2)},
    "one_hot_categorical": {"logits": torch.zeros(4, 2)},
    "bernoulli": {"probs": torch.full((4, 2), 0.5)},
    "poisson": {"rate": torch.ones(4, 2)},
    "multinomial": {"total_count": 5, "probs": torch.full((4, 2), 0.5)},
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("samples", [None, 3])
def test_every_family_draws_observes_reuses_and_is_partly_known(family: str, samples: int | None) -> None:
    arguments = FAMILIES[family]
    leading = (4,) if samples is None else (samples, 4)
    q, p, observed, part = unknot.Trace(samples), unknot.Trace(), unknot.Trace(), unknot.Trace(samples)
    value = getattr(q, family)(**arguments, name="v")
    assert value.shape == (*leading, 2)
    getattr(p, family)(**arguments, value=q["v"], name="v")
    assert torch.equal(p.log_prob(), q.log_prob())
    assert q.log_prob().shape == leading
    data = value if samples is None else value[0]
    seen = getattr(observed, family)(**arguments, value=data, name="v")
    assert torch.equal(seen, data)
    known = torch.tensor([True, False, False, True])
    mixed = getattr(part, family)(**arguments, value=unknot.partial(data, known), name="v")
    assert torch.equal(mixed[..., known, :], data[known].expand(mixed[..., known, :].shape))
    assert part["v"].known.tolist() == known.tolist()
    assert part.log_prob().shape == leading


def methods() -> dict[str, Any]:
    found = inspect.getmembers(Sites, inspect.isfunction)
    return {name: method for name, method in found if not name.startswith("_") and name != "variable"}


@pytest.mark.parametrize("name", methods())
def test_every_method_ends_in_the_same_keywords(name: str) -> None:
    parameters = inspect.signature(methods()[name]).parameters
    assert list(parameters)[-4:] == ["value", "name", "gradient", "event_dims"]
    assert [p for p, one in parameters.items() if one.kind is one.KEYWORD_ONLY] == list(parameters)[-3:]


@pytest.mark.parametrize(
    "name", sorted(methods().keys() - {"concrete", "relaxed_bernoulli", "stick_breaking_count"})
)
def test_arguments_have_torchs_names_and_order(name: str) -> None:
    """The relaxed families are our own, see :mod:`unknot.core.relaxed`, and so is the number of turns."""
    family = getattr(torch.distributions, name.title().replace("_", ""))
    theirs = [p for p in inspect.signature(family).parameters if p != "validate_args"]
    assert list(inspect.signature(methods()[name]).parameters)[1:-4] == theirs
