"""Counterfactuals of models whose numbers are known without computing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.workflow.counterfactuals.exact import exact_data, exact_model
from tests.workflow.models import like
from unknot.data.from_arrays import from_arrays
from unknot.errors import DataError
from unknot.models import node
from unknot.workflow.counterfactuals.counterfactual import Counterfactual
from unknot.workflow.counterfactuals.evaluate import counterfactuals


def found(**how: float) -> dict[str, Counterfactual]:
    return {one.factor: one for one in counterfactuals(exact_model(**how), exact_data())}


def test_a_perfect_model() -> None:
    by_name = found()
    kind, size = by_name["kind"], by_name["size"]
    assert (kind.settings, kind.items, kind.labels, size.settings) == (3, 200, 200, 5)
    for one in (kind, size):
        assert (one.encoder.share, one.encoder.real) == (1.0, 1.0)
        assert one.reader is not None
        assert one.reader.share > 0.9
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
    assert kind.reader is not None
    assert kind.reader.share == pytest.approx(1 / 3, abs=0.02)
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
    assert (kind.reader, kind.leak, size.reader) == (None, None, None)
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
