"""A YAML file as a table of settings, or one sentence about why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unknot.errors import SpecError

LARGEST = 1 << 20  # bytes of a file of settings


def read_yaml(path: Path, what: str, sections: str, empty: bool = False) -> Mapping[str, Any]:
    """The content of a file; ``what`` and ``sections`` say in errors what it is and what it should hold.

    ``empty`` says that a file with nothing in it is a table without settings.
    """
    try:
        if path.exists() and not path.is_file():
            raise SpecError(f"cannot read the {what} {path}: it is not a file.")
        if path.stat().st_size > LARGEST:
            raise SpecError(f"cannot read the {what} {path}: it has more than {LARGEST} bytes.")
        content = parse_yaml(path.read_bytes())
    except OSError as error:
        raise SpecError(f"cannot read the {what} {path}: {error.strerror}.") from None
    except SpecError:
        raise
    except ValueError as error:
        raise SpecError(f"{path} is not valid YAML: {error}.") from None
    if content is None and empty:
        return {}
    if not isinstance(content, Mapping):
        raise SpecError(f"{path}: expected sections {sections}.")
    return content


def parse_yaml(text: str | bytes) -> Any:
    """Plain values from YAML text; a ValueError in one line for anything else.

    Aliases are refused: a few bytes of them can stand for gigabytes, or for a table that contains itself. So is a key
    that comes twice in a table, of which YAML would keep the last value and forget the others.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise ValueError("it has aliases (*name), which settings do not need")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            table = super().construct_mapping(node, deep)
            names = [self.construct_object(key) for key, _ in node.value]
            if len(table) < len(names):
                twice = next(name for name, count in Counter(names).items() if count > 1)
                raise ValueError(f"'{twice}' comes twice in one table: join the two")
            return table

    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return yaml.load(text, Loader=Loader)
    except UnicodeDecodeError:
        raise ValueError("it is not text in UTF-8") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (
        yaml.YAMLError,
        ValueError,
        TypeError,
        LookupError,
    ) as error:  # PyYAML lets some of Python's through
        raise ValueError(" ".join(str(error).split()).rstrip(".")) from None
