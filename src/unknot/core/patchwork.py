"""Which tags the single elements of a storage carry.

Most storages carry one set of tags all over. Where tensors were joined (``cat``) or written into slices of one buffer,
every element has its own: they are kept as one number an element, in numpy, where no operation is followed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

Tag = int
TagSet = frozenset[Tag]
NONE: TagSet = frozenset()


class Patchwork:
    """Tags by element of the storages of one run, by the storage's key. Sets are numbered, elements hold numbers."""

    def __init__(self) -> None:
        self._sets: list[TagSet] = [NONE]
        self._numbers: dict[TagSet, int] = {NONE: 0}
        self._held: dict[int, int | np.ndarray] = {}  # one number for all, or one for each element

    def of(self, key: int, tensor: Tensor) -> TagSet:
        """All tags on the elements that ``tensor`` sees of its storage."""
        held = self._held.get(key, 0)
        if isinstance(held, int):
            return self._sets[held]
        return self._joined(held if _is_recast(held, tensor) else _seen(held, tensor))

    def elements(self, key: int, tensor: Tensor) -> np.ndarray:
        """The number of each element's set, in the tensor's shape."""
        held = self._held.get(key, 0)
        if isinstance(held, np.ndarray) and not _is_recast(held, tensor):
            return _seen(held, tensor)
        number = held if isinstance(held, int) else self.number(self._joined(held))
        return np.broadcast_to(np.int64(number), tuple(tensor.shape))

    def is_uniform(self, key: int) -> bool:
        """Whether all elements of a storage carry the same tags."""
        return isinstance(self._held.get(key, 0), int)

    def number(self, tags: TagSet) -> int:
        """The number of a set."""
        if tags not in self._numbers:
            self._numbers[tags] = len(self._sets)
            self._sets.append(tags)
        return self._numbers[tags]

    def set_all(self, key: int, tags: TagSet) -> None:
        """Give a whole storage one set."""
        self._held[key] = self.number(tags)

    def set_elements(self, key: int, tensor: Tensor, numbers: np.ndarray) -> None:
        """Give the elements that ``tensor`` sees of its storage these sets; the others keep theirs."""
        held = self._held.get(key, 0)
        if isinstance(held, np.ndarray) and _is_recast(held, tensor):
            self.set_all(key, self._joined(held) | self._joined(numbers))
            return
        size = tensor.untyped_storage().nbytes() // tensor.element_size()
        if numbers.size == 1 and (tensor.numel() == size or (isinstance(held, int) and int(numbers) == held)):
            self._held[key] = int(numbers)
            return
        if isinstance(held, int):
            held = np.full(size, held, dtype=np.int64)
        _seen(held, tensor)[...] = numbers
        self._held[key] = held if len(np.unique(held)) != 1 else int(held[0])

    def union(self, parts: Sequence[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        """Element by element the union of several sets, broadcast to ``shape``."""
        total = np.zeros(shape, dtype=np.int64)
        for part in parts:
            count = len(self._sets)
            pairs, where = np.unique(total * count + part, return_inverse=True)
            joined = [
                self.number(self._sets[pair // count] | self._sets[pair % count]) for pair in pairs.tolist()
            ]
            total = np.asarray(joined, dtype=np.int64)[where.reshape(shape)]
        return total

    def _joined(self, numbers: np.ndarray) -> TagSet:
        return NONE.union(*(self._sets[number] for number in np.unique(numbers)))


def _is_recast(held: np.ndarray, tensor: Tensor) -> bool:
    """Whether a tensor divides its storage into elements of another size than were numbered."""
    return held.size * tensor.element_size() != tensor.untyped_storage().nbytes()


def _seen(held: np.ndarray, tensor: Tensor) -> np.ndarray:
    """What a tensor sees of its storage's numbers, in its shape."""
    strides = tuple(stride * held.itemsize for stride in tensor.stride())
    return np.lib.stride_tricks.as_strided(held[tensor.storage_offset() :], tuple(tensor.shape), strides)
