"""Counterfactuals of models whose numbers are known without computing."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.workflow.counterfactuals.exact import exact_data, exact_model
from tests.workflow.models import like
from unknot.data.from_arrays import from_arrays
from unknot.errors import DataError
from unknot.models import node
from unknot.workflow.counterfactuals.counterfactual import Counterfactual
from unknot.workflow.counterfactuals.evaluate import counterfactuals, settings_of
from unknot.workflow.counterfactuals.predictor import predicted_values


def found(**how: float) -> dict[str, Counterfactual]:
    return {one.factor: one for one in counterfactuals(exact_model(**how), exact_data())}


def test_a_perfect_model() -> None:
    by_name = found()
    kind, size = by_name["kind"], by_name["size"]
    assert (kind.settings, kind.items, kind.labels, size.settings) == (3, 200, 200, 5)
    for one in (kind, size):
        assert (one.encoder.share, one.encoder.real) == (1.0, 1.0)
        assert one.predictor is not None
        assert one.predictor.share > 0.9
        assert one.style == ("style",)
        assert max(move.changed for move in one.moves.values()) < 1e-6
        assert one.leak is not None
        assert one.leak.carried < 0.1
        assert one.sharpness is None  # rows are no images
    assert set(kind.moves) == {"size", "style"}
    assert kind.verdict == "kind changes cleanly; style holds nothing of it."


def test_a_kind_that_does_not_show() -> None:
    kind = found(stuck=True)["kind"]
    assert kind.encoder.share == pytest.approx(1 / 3)
    assert kind.predictor is not None
    assert kind.predictor.share == pytest.approx(1 / 3, abs=0.02)
    assert kind.verdict.startswith("kind does not change")


def test_a_style_that_is_dragged_along_by_a_loop() -> None:
    data = exact_data()
    kind = {one.factor: one for one in counterfactuals(exact_model(dragged=2.0), data)}["kind"]
    move = kind.moves["style"]
    # each of the settings k moves the style by (2 k, 2 k), whatever the item; made anew by its own kind
    styles = data.x.numpy()[:, 4:]
    pairs = [np.linalg.norm(styles[i] - styles[j]) for i in range(400) for j in range(400) if i != j]
    assert move.changed == pytest.approx(
        np.sqrt(8) * (0 + 1 + 2) / 3 / np.mean(pairs), rel=0.1
    )  # half of the items
    assert move.unchanged == pytest.approx(move.changed, rel=0.2)
    assert kind.moves["size"].changed < 1e-6


def test_a_style_that_copies_the_kind() -> None:
    kind = found(copied=9.0)["kind"]
    assert kind.leak is not None
    assert kind.leak.carried > 0.98
    assert kind.verdict == "kind changes cleanly; style still carries all of it."


def test_few_labels_leave_the_models_own_reading() -> None:
    (kind, size) = counterfactuals(exact_model(), exact_data(60, labeled=0.5))
    assert (kind.predictor, kind.leak, size.predictor) == (None, None, None)
    assert kind.encoder.share == 1.0
    (bare, _) = counterfactuals(exact_model(), exact_data(50, labeled=0.0))
    assert (bare.items, bare.labels, bare.encoder.real) == (50, 0, None)


def test_training_labels_teach_and_test_items_are_judged() -> None:
    (kind, _) = counterfactuals(exact_model(), exact_data(80, seed=1), exact_data(300))
    assert (kind.items, kind.labels) == (80, 300)


def test_switches_directions_and_what_follows_of_images() -> None:
    nodes = [
        node("odd", "bernoulli", 1, inferred_from=["x"], labels=True),
        node("light", "direction", 3, inferred_from=["x"], labels=True),
        node("shade", "normal", 2, inferred_from=["light"]),
        node("rest", "normal", 2, inferred_from=["x"]),
        node("x", "bernoulli", parents=["odd", "shade", "rest"]),
    ]
    rng = np.random.default_rng(0)
    light = rng.normal(size=(30, 3))
    labels = {"odd": rng.random(30) < 0.5, "light": light / np.linalg.norm(light, axis=1, keepdims=True)}
    data = from_arrays(rng.random((30, 1, 6, 6)), labels)
    odd, lit = counterfactuals(like(nodes, data), data)
    assert (odd.settings, lit.settings) == (2, 5)
    assert set(odd.moves) == {"light", "shade", "rest"}
    assert set(lit.moves) == {"odd", "rest"}  # the shade is computed from the light: it follows
    assert lit.style == ("rest",)
    assert odd.sharpness is not None
    assert 0 < odd.sharpness.changed < 1  # an untrained model makes gray images


def test_documents_are_read_again_with_as_many_words_as_they_had(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [
        node("topic", "concrete", 2, inferred_from=["x"], labels=True),
        node("style", "normal", 2, inferred_from=["x"]),
        node("x", "multinomial", parents=["topic", "style"]),
    ]
    counts = np.random.default_rng(0).poisson(3.0, size=(20, 12)).astype(np.int64)
    data = from_arrays(counts, {"topic": np.arange(20) % 2})
    model, lengths = like(nodes, data), []
    recognize = type(model).predict

    def recorded(self, x, known=None):  # type: ignore[no-untyped-def]
        lengths.append(x.sum(-1))
        return recognize(self, x, known)

    monkeypatch.setattr(type(model), "predict", recorded)
    counterfactuals(model, data)
    judged = lengths[1]  # after a look at what can be set
    assert sum(len(one) == len(judged) and bool((one - judged).abs().max() < 1e-3) for one in lengths) >= 4


def test_one_item_has_nothing_to_be_held_against() -> None:
    with pytest.raises(DataError, match="two or more"):
        counterfactuals(exact_model(), exact_data(40).subset([0]))


# ---- The settings that factors are changed to, and readings beside them ----------------------------------


def test_classes_are_read_when_they_are_the_class() -> None:
    changes = settings_of(node("kind", "concrete", 3, labels=True), np.zeros(4))
    assert [int(setting) for setting in changes.values] == [0, 1, 2]
    assert changes.as_intended(np.array([2, 1, 2]), 2).tolist() == [True, False, True]
    assert changes.alike(np.array([0, 1]), np.array([0, 2])).tolist() == [True, False]


def test_ten_of_many_classes() -> None:
    changes = settings_of(node("person", "concrete", 38, labels=True), np.zeros(4))
    assert len(changes.values) == len(set(changes.intended.tolist())) == 10
    assert changes.as_intended(changes.intended[[3, 4]], 3).tolist() == [True, False]


def test_a_switch_is_set_to_no_and_yes() -> None:
    switch = node("odd", "bernoulli", 1, labels=True)
    assert [setting.tolist() for setting in settings_of(switch, np.zeros(4)).values] == [[0.0], [1.0]]
    assert predicted_values(switch, np.array([[0.2], [0.9]])).tolist() == [0, 1]


def test_numbers_are_set_to_values_that_occur_and_read_by_the_nearest() -> None:
    values = np.random.default_rng(0).normal(size=(300, 2)) * [1.0, 1000.0]
    changes = settings_of(node("size", "normal", 2, labels=True), values)
    assert len(changes.values) == 5
    for setting in changes.values:
        assert np.isclose(values, setting.numpy(), rtol=1e-5).all(1).any()
    # both numbers count alike, in units of their spread
    assert np.ptp(changes.intended, axis=0).min() > 1.0
    said = np.stack([one.numpy() for one in changes.values])
    for k in range(5):
        assert changes.as_intended(said, k).tolist() == [k == i for i in range(5)]
    assert changes.alike(said, said + 1e-3).all()


def test_few_values_and_directions() -> None:
    assert len(settings_of(node("size", "normal", 1, labels=True), np.array([1.0, 2.0, 1.0])).values) == 2
    light = torch.nn.functional.normalize(torch.randn(50, 3), dim=-1).numpy()
    changes = settings_of(node("light", "direction", 3, labels=True), light)
    np.testing.assert_allclose(np.linalg.norm(changes.intended, axis=1), 1.0, rtol=1e-5)
    assert predicted_values(node("light", "direction", 3, labels=True), light) is light
