"""Objectives by name: found in the catalogue, with their symbols, and refused in one sentence."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch

import unknot
from unknot.errors import SpecError
from unknot.objectives.catalogue import CATALOGUE
from unknot.objectives.discriminator import FactorVAE
from unknot.objectives.terms import Terms
from unknot.train.objective import resolve


def test_objectives_are_found_by_name_and_get_their_symbols() -> None:
    found = resolve({"name": "hfvae", "beta": 4.0}, dataset_size=123)
    assert found.function.keywords == {"beta": 4.0, "dataset_size": 123}  # type: ignore[attr-defined]
    assert resolve(found.function, 5).function is not None


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_objective_of_the_catalogue_can_be_named(name: str) -> None:
    symbols = {"anchors": ["z"]} if name == "anchor_vae" else {}
    found = resolve({"name": name, **symbols}, dataset_size=10).function
    assert getattr(found, "func", found) is CATALOGUE[name].function


def test_an_objective_with_a_network_of_its_own_makes_it_from_a_draw() -> None:
    def draw() -> unknot.Trace:
        q = unknot.Trace()
        q.normal(torch.zeros(4, 3), 1.0, name="z")
        return q

    made = resolve({"name": "factor_vae", "gamma": 2.0}, 10, draw)
    assert made.adversarial
    assert isinstance(made.module, FactorVAE)
    assert (made.module.gamma, made.module.discriminator.dimensions) == (2.0, 3)
    own = unknot.objectives.Discriminator(3)
    given = resolve({"name": "factor_vae", "discriminator": own}, 10, draw)
    assert given.function.keywords == {"discriminator": own}  # type: ignore[attr-defined]
    assert not given.adversarial


def test_parents_are_read_for_objectives_that_estimate_marginals_in_compiled_steps() -> None:
    def draw() -> unknot.Trace:
        q = unknot.Trace()
        y = q.concrete(torch.zeros(4, 3), 0.66, name="y")
        q.normal(y.argmax(-1, keepdim=True).float(), 1.0, name="z")
        return q

    with torch.no_grad():
        found = resolve("hfvae", 10, draw, compiled=True)
    assert found.function.keywords["parents"] == {"y": [], "z": ["y"]}  # type: ignore[attr-defined]
    assert "parents" not in resolve("hfvae", 10, draw).function.keywords  # type: ignore[attr-defined]
    assert resolve("elbo", 10, draw, compiled=True).function is CATALOGUE["elbo"].function
    plain, weighted = ({"name": "semi_supervised", **more} for more in ({}, {"between": 2.0}))
    with torch.no_grad():
        assert resolve(plain, 10, draw, compiled=True).function.keywords == {"dataset_size": 10}  # type: ignore[attr-defined]
        assert "parents" in resolve(weighted, 10, draw, compiled=True).function.keywords  # type: ignore[attr-defined]


def test_what_an_objective_takes_is_found_by_its_parameters_names() -> None:
    def of_traces(q: unknot.Trace, p: unknot.Trace) -> Terms:
        return Terms({"value": torch.zeros(2)})

    def of_all(q: unknot.Trace, p: unknot.Trace, batch: Any, program: Any) -> Terms:
        received.append((batch, program))
        return of_traces(q, p)

    def of_batch(q: unknot.Trace, p: unknot.Trace, batch: Any) -> Terms:
        received.append((batch,))
        return of_traces(q, p)

    class Network(torch.nn.Module):
        def forward(self, q: unknot.Trace, p: unknot.Trace, batch: Any, program: Any) -> Terms:
            return of_all(q, p, batch, program)

    received: list[tuple[Any, ...]] = []
    q, p, batch, program = unknot.Trace(), unknot.Trace(), object(), object()
    for function in (of_traces, of_all, of_batch, Network(), partial(of_all)):
        resolve(function, 10)(q, p, batch, program)  # type: ignore[arg-type]
    assert received == [(batch, program), (batch,), (batch, program), (batch, program)]


def test_objectives_that_sleep_or_take_a_reference_are_known_once() -> None:
    found = {name: resolve(name, 10) for name in ("sleep", "elbo", "hfvae", "semi_supervised")}
    assert [name for name, one in found.items() if one.sleeps] == ["sleep"]
    assert found["hfvae"].takes_reference
    assert not found["elbo"].takes_reference


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("hfva", "there is no 'hfva'; did you mean 'hfvae'"),
        ({"name": "semi_supervised", "alfa": 1.0}, "no symbol 'alfa'; did you mean 'alpha'"),
        ({"name": "factor_vae", "gama": 1.0}, "no symbol 'gama'; did you mean 'gamma'"),
        ({"alpha": 1.0}, "say which one"),
        ("Terms", "there is no 'Terms'"),
        ("decompose", "there is no 'decompose'"),
        ({"name": "elbo", "regularizers": {"swop": 1.0}}, "unknown key 'swop'; did you mean 'swap'"),
        ({"name": "sleep", "regularizers": {"swap": 1.0}}, "takes no regularizers"),
        ("anchor_vae", "needs a value for: anchors"),
        (unknot.objectives.factor_vae, "needs a value for: discriminator"),
    ],
)
def test_wrong_objectives_are_named(given: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        resolve(given, 10)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"name": "semi_supervised", "alpha": "much"},
            "train.objective.alpha is a number or a table, but got 'much'",
        ),
        ({"name": "elbo", "analytic": 1}, "train.objective.analytic is true or false, but got 1"),
        ({"name": "hfvae", "weights": 3}, "train.objective.weights is a table or left out, but got 3"),
        ({"name": "beta_vae", "beta": float("inf")}, "train.objective.beta is a number, but got inf"),
        (
            {"name": "semi_supervised", "beta": {"digit": None}},
            "train.objective.beta.digit is a number, but got None",
        ),
    ],
)
def test_symbols_are_checked_by_their_annotation(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecError) as caught:
        resolve(given, dataset_size=10)
    assert str(caught.value).startswith(sentence)
