"""ByNode: modules by the names of nodes, which may be any words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from torch import nn


class ByNode(nn.Module):
    """A table of modules, as ``nn.ModuleDict``, whose keys may have dots or be torch's own words (``type``, ``train``).

    The weights of the node ``digit`` are ``digit...`` in a state; a name that torch cannot take is written otherwise
    there, and only there.
    """

    def __init__(self, modules: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self._keys = {name: self._key(name) for name in modules}
        for name, module in modules.items():
            self.add_module(self._keys[name], module)

    def __getitem__(self, name: str) -> nn.Module:
        found = self._modules[self._keys[name]]
        assert found is not None
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def _key(self, name: str) -> str:
        taken = hasattr(type(self), name) or name in self.__dict__ or name.startswith(("_", "node "))
        if name.isidentifier() and not taken:
            return name
        return "node " + quote(name, safe="", errors="surrogatepass").replace(".", "%2E")
