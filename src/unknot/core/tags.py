"""Tensors that remember what they were computed from: sets of tags that follow data through every operation.

Tags belong to *storages*, not to tensor objects: views, ``detach()``, in-place writes and operations that hand
an input back all share a storage, so none of them can lose a tag. The price is that writing to one slice of a
tensor tags the whole of it. What an operation returns carries the tags of all tensors it read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

Tag = int
NONE: frozenset[Tag] = frozenset()

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
        self._tags: dict[int, frozenset[Tag]] = {}
        self._kept: dict[int, Any] = {}  # storages seen: kept alive, so that their addresses stay theirs
        self._made: set[int] = set()  # of these, the ones that the program itself made
        self._before: dict[int, tuple[Tensor, Tensor]] = {}  # tensors of others and what they held

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled while tags are followed; loading the compiler would take seconds

    def of(self, *values: Any) -> frozenset[Tag]:
        """All tags on the tensors in ``values``, which may be nested lists, tuples and dictionaries."""
        return NONE.union(*(self._tags.get(_key(t), NONE) for t in _tensors(values)))

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
        read = self.of(args[1:] if _overwrites(name, args) else args, kwargs)
        if name in _SHAPE_ONLY:
            read = NONE
        result = func(*args, **kwargs)
        for tensor in _tensors(result):
            if _key(tensor) not in given or name == "lift_fresh":
                self._made.add(_key(tensor))
                self._set(tensor, read)
        for tensor in written:
            self._set(tensor, read)
        return result

    def _set(self, tensor: Tensor, tags: frozenset[Tag]) -> None:
        key = _key(tensor)
        self._kept[key] = _storage(tensor)
        self._tags[key] = tags

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


def _overwrites(name: str, args: Any) -> bool:
    """Whether the operation replaces all that its first argument's storage held."""
    if name not in _OVERWRITES:
        return False
    storage = _storage(args[0])
    return not isinstance(storage, Tensor) and args[0].numel() * args[0].element_size() == storage.nbytes()


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
