"""Tensors that remember what they were computed from: sets of tags that follow data through every operation.

Tags belong to the elements of *storages*, not to tensor objects: views, ``detach()``, in-place writes and operations
that hand an input back all share a storage, so none of them can lose a tag. What an operation returns carries the tags
of all that it read; joining, copying and pointwise operations keep them element by element (:class:`ElementTags`), so
that what was joined can come apart again. A weight of zero is not seen: a layer that starts at zero is an edge all the
same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

Tag = int
TagSet = frozenset[Tag]
NONE: TagSet = frozenset()


class ElementTags:
    """Tags by element of the storages of one run, by the storage's key.

    Most storages carry one set of tags throughout. Where tensors were joined (``cat``) or written into slices of one
    buffer, every element has its own: sets are numbered, and elements hold one number each, in numpy, where no
    operation is followed.
    """

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
        if numbers.size == 1 and (
            tensor.numel() == size or (isinstance(held, int) and int(numbers.item()) == held)
        ):
            self._held[key] = int(numbers.item())
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


# Operations that take only shape, type and device from their argument.
_SHAPE_ONLY = {
    *("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like"),
    *("new_zeros", "new_ones", "new_empty", "new_full", "new_empty_strided"),
}
# Operations that forget what their first argument held.
_OVERWRITES = {
    *("copy_", "fill_", "zero_", "normal_", "uniform_", "exponential_", "bernoulli_", "random_"),
    *("geometric_", "cauchy_", "log_normal_"),
}
# Operations that keep elements apart without being marked as pointwise.
_ELEMENTWISE = {"clone", "copy_", "_to_copy"}
# Batch norm's memory of earlier batches: state of the module, not a path between variables.
_RUNNING_STATISTICS = ("running_mean", "running_var")


class Tags(TorchDispatchMode):
    """While active, follows tags through every operation, in Python or in C++.

    Tensors that existed before and are written to (batch norm's running statistics, counters) are put back by
    :meth:`restore`.

    >>> tags = Tags()
    >>> with tags:
    ...     y = tags.fresh(torch.ones(3), 7)
    ...     h = torch.zeros(3).add_(y.detach()[0])
    >>> tags.of(h), tags.of(torch.ones(3))
    (frozenset({7}), frozenset())
    """

    def __init__(self) -> None:
        super().__init__()
        self._tags = ElementTags()
        self._kept: dict[int, Any] = {}  # storages seen: kept alive, so that their addresses stay theirs
        self._made: set[int] = set()  # of these, the ones that the program itself made
        self._before: dict[int, tuple[Tensor, Tensor]] = {}  # tensors of others and what they held

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled while tags are followed; loading the compiler would take seconds

    def of(self, *values: Any) -> frozenset[Tag]:
        """All tags on the tensors in ``values``, which may be nested lists, tuples and dictionaries."""
        return NONE.union(*(self._tags.of(_key(t), t) for t in _tensors(values)))

    def fresh(self, value: Tensor, tag: Tag | None) -> Tensor:
        """A copy of ``value`` that carries exactly this tag (or none), whatever ``value`` came from."""
        twin = value.clone()
        self._set(twin, NONE if tag is None else frozenset({tag}))
        return twin

    def restore(self) -> None:
        """Put back what tensors from before held."""
        with torch.no_grad():
            for tensor, held in self._before.values():
                tensor.copy_(held)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        written, remembered = _written(func, args, kwargs)
        for tensor in written + remembered:
            self._remember(tensor)
        given = {_key(t) for t in _tensors((args, kwargs))}
        inputs = (args[1:] if name in _OVERWRITES else args, kwargs)
        read = NONE if name in _SHAPE_ONLY else self.of(*inputs)
        by_element = self._by_element(func, inputs)  # before anything is overwritten
        result = func(*args, **kwargs)
        for tensor in _tensors(result):
            if _key(tensor) not in given or name == "lift_fresh":
                self._made.add(_key(tensor))
                self._set(tensor, read)
                if by_element is not None:
                    self._set_elements(tensor, by_element, read)
        for tensor in written:
            self._set_elements(tensor, by_element, read)
        return result

    def _by_element(self, func: Any, inputs: Any) -> np.ndarray | None:
        """What each element of the result is made from, where an operation keeps elements apart; else None."""
        name = func.overloadpacket.__name__
        tensors = list(_tensors(inputs))
        if any(not _has_elements(t) for t in tensors):
            return None
        elements = [self._tags.elements(_key(t), t) for t in tensors]
        if name in ("cat", "stack"):
            dim = inputs[0][1] if len(inputs[0]) > 1 else inputs[1].get("dim", 0)
            if name == "stack":
                return np.stack(elements, dim)
            joined = [part for part in elements if part.shape != (0,)]  # torch skips these
            return np.concatenate(joined, dim) if joined else None
        if all(self._tags.is_uniform(_key(t)) for t in tensors):
            return None
        if torch.Tag.pointwise in func.tags or name in _ELEMENTWISE:
            return self._tags.union(elements, tuple(torch.broadcast_shapes(*(t.shape for t in tensors))))
        return None

    def _set_elements(self, tensor: Tensor, by_element: np.ndarray | None, read: frozenset[Tag]) -> None:
        """Tags of the elements of a new or changed tensor: each its own, or all those that were ``read``."""
        if not _has_elements(tensor):
            self._set(tensor, read)
            return
        if by_element is None or not _fits(by_element.shape, tensor.shape):
            by_element = np.asarray(self._tags.number(read))
        self._kept[_key(tensor)] = _storage(tensor)
        self._tags.set_elements(_key(tensor), tensor, by_element)

    def _set(self, tensor: Tensor, tags: frozenset[Tag]) -> None:
        key = _key(tensor)
        self._kept[key] = _storage(tensor)
        self._tags.set_all(key, tags)

    def _remember(self, tensor: Tensor) -> None:
        key = _key(tensor)
        if key not in self._made and key not in self._before and tensor.layout == torch.strided:
            whole = tensor.detach().new_empty(0).set_(tensor.untyped_storage())
            self._before[key] = (whole, whole.clone())


def _storage(tensor: Tensor) -> Any:
    """What tags belong to: the storage, or the tensor itself where there is none (sparse layouts)."""
    try:
        return tensor.untyped_storage()
    except NotImplementedError:
        return tensor


def _key(tensor: Tensor) -> int:
    storage = _storage(tensor)
    return id(storage) if isinstance(storage, Tensor) else storage._cdata


def _tensors(values: Any) -> Iterator[Tensor]:
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _tensors(value)
    elif isinstance(values, dict):
        yield from _tensors(list(values.values()))


def _has_elements(tensor: Tensor) -> bool:
    """Whether a tensor's elements lie in a storage, by strides."""
    return tensor.layout == torch.strided and not isinstance(_storage(tensor), Tensor)


def _fits(shape: tuple[int, ...], wide: torch.Size) -> bool:
    """Whether numbers of one shape can be written to elements of another."""
    aligned = zip(reversed(shape), reversed(wide), strict=False)
    return len(shape) <= len(wide) and all(size in (1, full) for size, full in aligned)


def _written(func: Any, args: Any, kwargs: Any) -> tuple[list[Tensor], list[Tensor]]:
    """The tensors that an operation changes in place: those that take tags, and running statistics."""
    written: list[Tensor] = []
    remembered: list[Tensor] = []
    for position, argument in enumerate(func._schema.arguments):
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        if argument.name in _RUNNING_STATISTICS:  # not every overload declares that it writes these
            remembered += _tensors(value)
        elif argument.alias_info is not None and argument.alias_info.is_write:
            written += _tensors(value)
    return written, remembered
