"""Labels of every kind, by name or by position, with every mark for unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.estimator.small import CLASSES, COUNT, IMAGES, class_and_style, half_known, small
from unknot.errors import DataError, SpecError


def test_words_come_back_as_words() -> None:
    names = np.array([f"digit {d}" for d in CLASSES[:COUNT]], dtype=object)
    names[5:60] = None
    vae = small().fit(IMAGES[:COUNT], digit=names)
    assert set(vae.predict(IMAGES[:20])) <= set(names[60:])
    assert vae.sample(2, {"digit": "digit 4"}).shape == (2, 1, 8, 8)
    assert 0 <= vae.score(IMAGES[:COUNT], digit=names) <= 1


def test_labels_to_compare_with_are_read_like_those_that_were_fitted() -> None:
    names = np.array([f"digit {d}" for d in CLASSES[:COUNT]])
    vae = small().fit(IMAGES[:COUNT], digit=names)
    truth = vae.score(IMAGES[:COUNT], digit=names)
    assert vae.score(IMAGES[:COUNT], digit=names.astype(bytes)) == truth
    assert vae.score(IMAGES[:50], digit=[*names[:49], ""]) == vae.score(IMAGES[:49], digit=names[:49])
    with pytest.raises(DataError, match="labels of 'digit' are numbers, but the model was fitted on words"):
        vae.score(IMAGES[:COUNT], digit=CLASSES[:COUNT])
    with pytest.raises(DataError, match="for 9 items, some of them known"):
        vae.score(IMAGES[:9], digit=names[:8])


def test_bools_come_back_as_bools() -> None:
    vae = small().fit(IMAGES[:COUNT], even=CLASSES[:COUNT] % 2 == 0)
    assert vae.predict(IMAGES[:5]).dtype == bool
    assert vae.vary(IMAGES[:2], even=[False, True]).shape == (2, 2, 1, 8, 8)


@pytest.mark.parametrize(
    "labels",
    [
        half_known(CLASSES),
        np.ma.MaskedArray(CLASSES[:COUNT], np.arange(COUNT) >= COUNT // 2),
        [int(d) if i < COUNT // 2 else None for i, d in enumerate(CLASSES[:COUNT])],
        torch.from_numpy(half_known(CLASSES)),
    ],
    ids=["-1", "masked", "None", "tensor"],
)
def test_every_mark_for_unknown_says_the_same(labels: Any) -> None:
    vae = small().fit(IMAGES[:COUNT], digit=labels)
    assert int(vae.factors_["digit"].known.sum()) == COUNT // 2
    reference = small().fit(IMAGES[:COUNT], digit=half_known(CLASSES))
    np.testing.assert_array_equal(vae.transform(IMAGES[:3]), reference.transform(IMAGES[:3]))


def test_whole_floats_beside_nan_must_be_declared() -> None:
    labels = half_known(CLASSES.astype(float), np.nan)
    with pytest.raises(DataError, match="kinds="):
        small().fit(IMAGES[:COUNT], digit=labels)
    vae = small(kinds={"digit": "categorical"}).fit(IMAGES[:COUNT], digit=labels)
    reference = small().fit(IMAGES[:COUNT], digit=half_known(CLASSES))
    np.testing.assert_array_equal(vae.predict_proba(IMAGES[:3]), reference.predict_proba(IMAGES[:3]))
    described = small(model=class_and_style())
    assert described.fit(IMAGES[:COUNT], digit=labels).factors_["digit"].kind == "categorical"


def test_continuous_factors_are_learned_in_their_own_units() -> None:
    brightness = 500 + 10 * IMAGES[:COUNT].mean((1, 2))  # about 1300
    vae = small(steps=120).fit(IMAGES[:COUNT], brightness=half_known(brightness, np.nan))
    guess = vae.predict(IMAGES[:COUNT])
    assert guess.shape == (COUNT,)
    assert np.corrcoef(guess, brightness)[0, 1] > 0.8
    assert vae.score(IMAGES[:COUNT], brightness=brightness) > -brightness.var()
    assert vae.sample(3, {"brightness": 1300.0}).shape == (3, 1, 8, 8)
    assert vae.vary(IMAGES[:2], brightness=[1000.0, 1500.0]).shape == (2, 2, 1, 8, 8)
    with pytest.raises(SpecError, match="no class probabilities"):
        vae.predict_proba(IMAGES[:3])


def test_vectors_and_counts() -> None:
    vectors = np.stack([np.sin(CLASSES), np.cos(CLASSES)], 1)[:COUNT]
    vectors[::2] = np.nan
    vae = small(kinds={"strokes": "count"}).fit(
        IMAGES[:COUNT], light=vectors, strokes=half_known(CLASSES % 4)
    )
    assert vae.predict(IMAGES[:5], "light").shape == (5, 2)
    assert set(vae.predict(IMAGES[:50], "strokes")) <= {0, 1, 2, 3}
    assert vae.sample(4, {"light": [0.0, 1.0], "strokes": 2}).shape == (4, 1, 8, 8)
    assert np.isfinite(vae.score(IMAGES[:COUNT], light=vectors))


def test_factors_may_be_known_for_different_items() -> None:
    first, second = CLASSES[:COUNT].copy(), (CLASSES[:COUNT] % 2).copy()
    first[: COUNT // 2], second[COUNT // 2 :] = -1, -1
    vae = small().fit(IMAGES[:COUNT], digit=first, odd=second)
    assert vae.predict(IMAGES[:5], "digit").shape == vae.predict(IMAGES[:5], "odd").shape == (5,)
    with pytest.raises(SpecError, match="choose a factor, one of digit, odd"):
        vae.predict(IMAGES[:5])


def test_a_positional_y_goes_to_the_one_factor_of_a_described_model() -> None:
    vae = small(model=class_and_style()).fit(IMAGES[:COUNT], half_known(CLASSES))
    assert list(vae.factors_) == ["digit"]
    assert small().fit_transform(IMAGES[:COUNT], half_known(CLASSES)).shape == (COUNT, 13)
    with pytest.raises(SpecError, match="given twice"):
        small().fit(IMAGES[:COUNT], CLASSES[:COUNT], label=CLASSES[:COUNT])


def test_labels_the_model_does_not_take_are_refused() -> None:
    vae = small(model=class_and_style())
    with pytest.raises(SpecError, match="labels for 'light', but the model takes labels of digit"):
        vae.fit(IMAGES[:COUNT], digit=half_known(CLASSES), light=np.zeros(COUNT))
    with pytest.raises(SpecError, match="node 'digit' takes labels, but data has no such factor"):
        vae.fit(IMAGES[:COUNT])
    with pytest.raises(SpecError, match="size 10, but its labels have 12 classes"):
        vae.fit(IMAGES[:12], digit=np.arange(12))
