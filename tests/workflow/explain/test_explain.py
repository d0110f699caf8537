"""Explanations: against a loop over items and draws, in an exact case, and of texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from tests.references.importance import importance
from unknot import StructuredVAE
from unknot.errors import SpecError
from unknot.workflow.explain import explain as module
from unknot.workflow.explain.explain import CLASSES, NUMBERS, column_groups, explain
from unknot.workflow.explain.replacements import conditional_draws, draws_conditionally, without_words

RNG = np.random.default_rng(0)
COUNT = 60
KIND = RNG.integers(0, 3, COUNT)
X = pd.DataFrame({"a": KIND + RNG.normal(size=COUNT), "b": RNG.normal(size=COUNT)})
SIZE = X["a"] + 0.1 * RNG.normal(size=COUNT)
QUICK = {"steps": 5, "verbose": False, "verdict": False}
MEMBER = {"kind": "ensemble", "folds": 2, "settings": [{"rank": False}]}


@pytest.fixture(scope="module")
def table() -> StructuredVAE:
    return StructuredVAE(model=MEMBER, **QUICK).fit(X, kind=KIND, size=SIZE.to_numpy())


@pytest.mark.parametrize(("factor", "measure"), [("kind", CLASSES), ("size", NUMBERS)])
def test_columns_are_those_of_a_loop_over_items_and_draws(
    table: StructuredVAE, factor: str, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data = table.trained_, table._items(X[:7])
    draws = [RNG.normal(size=7).astype(np.float32) for _ in range(module.DRAWS)]

    def stand_in(model: object, x: torch.Tensor, columns: list[int]) -> torch.Tensor:
        return torch.from_numpy(np.concatenate(draws))[:, None]

    monkeypatch.setattr(module, "conditional_draws", stand_in)
    found = explain(model, data, factor)
    assert found.measure == measure

    def predict(rows: np.ndarray) -> np.ndarray:
        return model.predict(torch.tensor(rows)).predictions[factor].double().numpy()

    for column in (0, 1):
        losses, gains = importance(predict, X[:7].to_numpy(np.float32), draws, column, factor == "kind")
        np.testing.assert_allclose(found.importance[column], np.mean(losses), rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(found.contributions[:, column], gains, rtol=1e-3, atol=1e-4)
        error = np.std(losses, ddof=1) / 7**0.5
        np.testing.assert_allclose(found.standard_error[column], error, rtol=1e-2, atol=1e-5)


def test_a_column_that_predictions_do_not_look_at_has_no_importance(
    table: StructuredVAE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prediction that is the sigmoid of the first column, whose importance is known in closed form."""

    def predictions_of(model: object, factor: str):  # type: ignore[no-untyped-def]
        def predict(x: torch.Tensor) -> np.ndarray:
            p = torch.sigmoid(x[:, :1].double()).numpy()
            return np.concatenate([1 - p, p], 1)

        return predict

    monkeypatch.setattr(module, "_predictions_of", predictions_of)
    monkeypatch.setattr(module, "conditional_draws", lambda model, x, columns: torch.zeros(len(x), 1))
    found = explain(table.trained_, table._items(X), "kind")
    p = 1 / (1 + np.exp(-X["a"].to_numpy()))
    divergence = p * np.log(2 * p) + (1 - p) * np.log(2 * (1 - p))  # to one half
    np.testing.assert_allclose(found.importance, [divergence.mean(), 0.0], atol=1e-6)
    np.testing.assert_allclose(found.contributions[:, 0], np.maximum(p, 1 - p) - 0.5, atol=1e-6)
    assert (found.contributions[:, 1] == 0).all()


def test_draws_are_made_without_the_column(table: StructuredVAE) -> None:
    model = table.trained_
    assert draws_conditionally(model)
    x = table._items(X).batch(range(COUNT)).x
    drawn = []
    for first in (x[:, 0], x[:, 0] + 100):
        torch.manual_seed(0)
        drawn.append(conditional_draws(model, torch.stack([first, x[:, 1]], 1), [0]))
    assert torch.equal(*drawn)
    assert drawn[0].shape == (COUNT, 1)


def test_what_is_kept_of_the_training_explains_too(table: StructuredVAE) -> None:
    state = torch.get_rng_state()
    one, other = (explain(table.trained_, None, "kind") for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(one.importance, other.importance)
    assert one.names == ("a", "b")


def test_a_date_is_one_column(table: StructuredVAE) -> None:
    days = pd.date_range("2024-01-01", periods=COUNT, freq="11D").strftime("%Y-%m-%d")
    vae = StructuredVAE(model=MEMBER, **QUICK).fit(X.assign(day=days), kind=KIND)
    groups = column_groups(vae.trained_)
    assert list(groups) == ["a", "b", "day"]
    assert len(groups["day"]) > 1
    assert vae.explain(factor="kind").names == ("a", "b", "day")


def test_words_are_left_out_of_their_texts() -> None:
    texts = ["gun tank moon", "gun gun law", "moon rocket sky", "rocket sky sky"] * 6
    kind = ["war", "war", "space", "space"] * 6
    vae = StructuredVAE(**QUICK, cross_fit=0).fit(texts, kind=kind)
    found = vae.explain(texts[:4], "kind")
    assert set(found.names) == {"gun", "tank", "moon", "law", "rocket", "sky"}
    assert set(found.toward) <= {"war", "space"}
    there = np.array([[word in text.split() for word in found.names] for text in texts[:4]])
    assert (found.contributions[~there] == 0).all()


def test_one_word_of_one_text_at_a_time() -> None:
    counts = torch.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
    variants, rows, words = without_words(counts, 100)
    found = torch.cat([one.to_dense() for one in variants]).tolist()
    assert sorted(zip(rows.tolist(), words.tolist(), found, strict=True)) == [
        (0, 0, [0.0, 0.0, 1.0]),
        (0, 2, [2.0, 0.0, 0.0]),
        (1, 1, [0.0, 0.0, 0.0]),
    ]


def test_images_are_not_explained() -> None:
    vae = StructuredVAE(model="class_style", **QUICK, cross_fit=0)
    vae.fit(RNG.random((20, 1, 4, 4)).astype(np.float32), kind=KIND[:20])
    with pytest.raises(SpecError, match=r"items have shape \(1, 4, 4\); vary\(\) shows"):
        vae.explain(RNG.random((2, 1, 4, 4)).astype(np.float32))
