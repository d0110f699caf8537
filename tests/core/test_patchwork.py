"""Tags by element, against dictionaries of elements."""

import numpy as np
import torch

from unknot.core.patchwork import NONE, Patchwork


def key(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def test_slices_keep_their_own() -> None:
    patches, whole = Patchwork(), torch.zeros(4, 6)
    patches.set_all(key(whole), NONE)
    one, two = np.asarray(patches.number(frozenset({1}))), np.asarray(patches.number(frozenset({2})))
    patches.set_elements(key(whole), whole[:, :2], one)
    patches.set_elements(key(whole), whole[1], two)
    for row in range(4):
        for column in range(6):
            expected = {2} if row == 1 else ({1} if column < 2 else set())
            assert patches.of(key(whole), whole[row, column]) == expected
    assert patches.of(key(whole), whole.T[3:]) == {2}
    assert patches.of(key(whole), whole) == {1, 2}
    assert patches.elements(key(whole), whole[:, ::5]).shape == (4, 2)


def test_a_storage_written_all_over_is_uniform_again() -> None:
    patches, whole = Patchwork(), torch.zeros(3)
    number = np.asarray(patches.number(frozenset({5})))
    patches.set_elements(key(whole), whole[:1], number)
    assert not patches.is_uniform(key(whole))
    patches.set_elements(key(whole), whole[1:], number)
    assert patches.is_uniform(key(whole))


def test_other_element_sizes_see_everything() -> None:
    patches, whole = Patchwork(), torch.zeros(4)
    patches.set_elements(key(whole), whole[:1], np.asarray(patches.number(frozenset({1}))))
    halves = whole.view(torch.int16)
    assert patches.of(key(whole), halves[6:]) == {1}
    assert patches.elements(key(whole), halves[6:]).shape == (2,)
    patches.set_elements(key(whole), halves[6:], np.asarray(patches.number(frozenset({2}))))
    assert patches.of(key(whole), whole[3:]) == {1, 2}


def test_union_element_by_element() -> None:
    patches = Patchwork()
    a, b = patches.number(frozenset({1})), patches.number(frozenset({2}))
    joined = patches.union([np.array([[0], [a]]), np.array([0, b])], (2, 2))
    sets = [[NONE, {2}], [{1}, {1, 2}]]
    for row in range(2):
        for column in range(2):
            assert joined[row, column] == patches.number(frozenset(sets[row][column]))
