"""Numbers of analogies against loops."""

import numpy as np

from unknot.metrics.analogies import colors_kept, nearest_setting, share_as_intended, style_shift


def test_shift_equals_its_loop() -> None:
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(7, 3)), rng.normal(size=(7, 4, 3))
    moved = [np.sqrt(((after[i, k] - before[i]) ** 2).sum()) for i in range(7) for k in range(4)]
    pairs = [np.sqrt(((before[i] - before[j]) ** 2).sum()) for i in range(7) for j in range(7) if i != j]
    assert np.isclose(style_shift(before, after), np.mean(moved) / np.mean(pairs))


def test_shift_of_codes_that_stay_and_of_codes_that_are_redrawn() -> None:
    rng = np.random.default_rng(1)
    before = rng.normal(size=(400, 2))
    assert style_shift(before, np.repeat(before[:, None], 10, 1)) == 0.0
    assert abs(style_shift(before, rng.normal(size=(400, 10, 2))) - 1) < 0.1


def test_share_counts_columns() -> None:
    read = np.tile(np.arange(10), (5, 1))
    assert share_as_intended(read) == 1.0
    read[:, 3] = 8
    assert share_as_intended(read) == 0.9


def test_classes_may_be_some_of_all() -> None:
    read = np.array([[7, 3], [7, 4]])
    assert share_as_intended(read, np.array([7, 3])) == 0.75


def test_numbers_are_read_as_the_nearest_setting() -> None:
    rng = np.random.default_rng(2)
    read, settings = rng.normal(size=(6, 2, 3)), rng.normal(size=(4, 3))
    nearest = nearest_setting(read, settings)
    for i in range(6):
        for j in range(2):
            distances = [sum((read[i, j, d] - settings[k, d]) ** 2 for d in range(3)) for k in range(4)]
            assert nearest[i, j] == distances.index(min(distances))


def test_items_that_are_all_alike_have_no_scale() -> None:
    same = np.ones((3, 2))
    assert style_shift(same, same[:, None]) == 0.0
    assert style_shift(same, same[:, None] + 1) == np.inf


def test_color_is_the_correlation_channel_by_channel() -> None:
    rng = np.random.default_rng(3)
    before, after = rng.random((6, 3)), rng.random((6, 2, 3))
    found = []
    for c in range(3):
        pairs = [(before[i, c], after[i, k, c]) for i in range(6) for k in range(2)]
        found.append(np.corrcoef(np.array(pairs).T)[0, 1])
    assert np.isclose(colors_kept(before, after), np.mean(found))


def test_a_color_that_never_changes_has_no_correlation() -> None:
    before = np.random.default_rng(4).random((5, 3))
    after = np.repeat(before[:, None], 2, 1)
    after[..., 1] = 0.5
    assert np.isclose(colors_kept(before, after), 2 / 3)
