"""The settings that factors are changed to, and readings beside them."""

from __future__ import annotations

import numpy as np
import torch

from unknot.models import node
from unknot.workflow.counterfactuals.evaluate import changes_of, reading


def test_classes_are_read_when_they_are_the_class() -> None:
    changes = changes_of(node("kind", "concrete", 3, labels=True), np.zeros(4))
    assert [int(setting) for setting in changes.settings] == [0, 1, 2]
    assert changes.as_meant(np.array([2, 1, 2]), 2).tolist() == [True, False, True]
    assert changes.alike(np.array([0, 1]), np.array([0, 2])).tolist() == [True, False]


def test_ten_of_many_classes() -> None:
    changes = changes_of(node("person", "concrete", 38, labels=True), np.zeros(4))
    assert len(changes.settings) == len(set(changes.meant.tolist())) == 10
    assert changes.as_meant(changes.meant[[3, 4]], 3).tolist() == [True, False]


def test_a_switch_is_set_to_no_and_yes() -> None:
    switch = node("odd", "bernoulli", 1, labels=True)
    assert [setting.tolist() for setting in changes_of(switch, np.zeros(4)).settings] == [[0.0], [1.0]]
    assert reading(switch, np.array([[0.2], [0.9]])).tolist() == [0, 1]


def test_numbers_are_set_to_values_that_occur_and_read_by_the_nearest() -> None:
    values = np.random.default_rng(0).normal(size=(300, 2)) * [1.0, 1000.0]
    changes = changes_of(node("size", "normal", 2, labels=True), values)
    assert len(changes.settings) == 5
    for setting in changes.settings:
        assert np.isclose(values, setting.numpy(), rtol=1e-5).all(1).any()
    # both numbers count alike, in units of their spread
    assert np.ptp(changes.meant, axis=0).min() > 1.0
    said = np.stack([one.numpy() for one in changes.settings])
    for k in range(5):
        assert changes.as_meant(said, k).tolist() == [k == i for i in range(5)]
    assert changes.alike(said, said + 1e-3).all()


def test_few_values_and_directions() -> None:
    assert len(changes_of(node("size", "normal", 1, labels=True), np.array([1.0, 2.0, 1.0])).settings) == 2
    light = torch.nn.functional.normalize(torch.randn(50, 3), dim=-1).numpy()
    changes = changes_of(node("light", "direction", 3, labels=True), light)
    np.testing.assert_allclose(np.linalg.norm(changes.meant, axis=1), 1.0, rtol=1e-5)
    assert reading(node("light", "direction", 3, labels=True), light) is light
