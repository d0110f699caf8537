"""What the tables of digits share."""

from __future__ import annotations

import torch
from torch.distributions import Normal

from experiments.digits.digit_errors import (
    alone,
    class_log_evidence,
    column,
    importance_weighted_error,
    settings_for,
    table,
    without_evidence,
)
from experiments.digits.mnist import APART
from experiments.ledger.fit import train_quietly
from tests.workflow.models import untrained
from unknot.data import load
from unknot.workflow.recipe import Recipe

TRAIN = {
    "steps": 100,
    "batch_size": 200,
    "labeled_share": 0.25,
    "objective": {"name": "semi_supervised", "alpha": 50.0},
}


def test_tiers_change_the_length_and_the_data_alone() -> None:
    quick = settings_for("mnist", 100, {"style": 2}, TRAIN, "quick", 2)
    assert quick == {"data": "mnist", "labels": 100, "model": {"style": 2}, "train": TRAIN, "draws": 2}
    smoke = settings_for("mnist", 100, {}, TRAIN, "smoke")
    assert (smoke["data"], smoke["train"]["steps"]) == ("digits", 3)
    assert TRAIN["steps"] == 100


def test_a_table_has_a_case_for_every_row_and_number_of_labels() -> None:
    found = table([("ours", {"labels": 0, "draws": 0}), ("theirs", {"labels": 0})], (100, 600))
    assert [(case["row"], case["column"], case["labels"]) for case in found] == [
        ("ours", column(100), 100),
        ("ours", column(600), 600),
        ("theirs", column(100), 100),
        ("theirs", column(600), 600),
    ]


def test_the_honest_row_has_the_labels_and_nothing_else() -> None:
    objective = {**TRAIN["objective"], "regularizers": {"agreement": 9.0, "independence": 1.0}}
    case = {"row": "ours", "labels": 100, "model": {}, "train": {**TRAIN, "objective": objective}, "draws": 2}
    found = alone(case, "labels alone")
    assert found["train"]["objective"] == {
        "name": "supervised",
        "alpha": 50.0,
        "regularizers": {"independence": 1.0},
    }
    assert (found["train"]["steps"], found["train"]["batch_size"]) == (50, 50)


def test_the_network_alone_is_the_trained_model_but_for_the_evidence() -> None:
    certain = {**APART["nodes"]["digit"]["encoder"], "weight": 1.0}
    nodes = {**APART["nodes"], "digit": {**APART["nodes"]["digit"], "encoder": certain}}
    recipe = Recipe(
        {"name": "digits"}, {"budget": {"digit": 50}}, {**APART, "nodes": nodes}, {**TRAIN, "steps": 2}
    )
    trained = train_quietly(recipe)
    assert trained.test is not None
    x = trained.test.batch(range(50)).x
    plain = without_evidence(trained.model).predict(x).predictions
    module = trained.model.module
    with torch.no_grad():
        features = module.trunk(x)
        expected = module.recognition["digit"]({"x": features}).softmax(-1)
    torch.testing.assert_close(plain["digit"], expected)
    assert not torch.allclose(trained.model.predict(x).predictions["digit"], expected)


# ---- Importance-weighted prediction against integrals over a grid of styles ------------------------------

NODES = {
    "kind": {"family": "concrete", "size": 3, "inferred_from": ["x"], "labels": True},
    "style": {"family": "normal", "size": 1, "inferred_from": ["x", "kind"]},
    "x": {"family": {"name": "normal", "scale": 0.7}, "parents": ["kind", "style"]},
}


def test_the_evidence_is_the_integral_over_the_style() -> None:
    torch.manual_seed(0)
    model = untrained({"nodes": NODES, "width": 16}, (2,))
    x = torch.randn(4, 2)
    grid = torch.linspace(-8, 8, 4001)
    exact = torch.zeros(4, 3)
    with torch.no_grad():
        for k in range(3):
            means = model.generate(4001, {"kind": torch.full((4001,), k), "style": grid[:, None]})  # (G, 2)
            for b in range(4):
                density = Normal(0.0, 1.0).log_prob(grid) + Normal(means, 0.7).log_prob(x[b]).sum(-1)
                exact[b, k] = (
                    torch.logsumexp(density, 0) + torch.log(grid[1] - grid[0]) - torch.tensor(3.0).log()
                )
        found = class_log_evidence(model, x, "kind", samples=200_000)
    # weights of an untrained proposal vary by a factor of a few: 200,000 of them leave well under 1 % of error
    torch.testing.assert_close(found, exact, rtol=0, atol=0.02)


def test_the_error_counts_items_whose_likeliest_class_is_not_their_label() -> None:
    torch.manual_seed(0)
    data = load("digits").split("test").subset(range(30))
    nodes = {
        "digit": {"family": "concrete", "size": 10, "inferred_from": ["x"], "labels": True},
        "style": {"family": "normal", "size": 2, "inferred_from": ["x", "digit"]},
        "x": {"family": "bernoulli", "parents": ["digit", "style"]},
    }
    model = untrained({"nodes": nodes}, data.item_shape)
    batch = data.batch(range(30))
    torch.manual_seed(3)
    with torch.no_grad():
        evidence = class_log_evidence(model, batch.x, "digit", samples=2)
    wrong = sum(int(evidence[b].argmax()) != int(batch["digit"][b]) for b in range(30))
    assert 0 < wrong < 30
    assert importance_weighted_error(model, data, "digit", samples=2, seed=3) == wrong / 30
