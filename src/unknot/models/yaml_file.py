"""A YAML file as a table of settings, or one sentence about why not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unknot.errors import SpecError


def read_yaml(path: Path, what: str, sections: str) -> Mapping[str, Any]:
    """The content of a file; ``what`` and ``sections`` say in errors what it is and what it should hold."""
    import yaml

    try:
        content = yaml.safe_load(path.read_text())
    except OSError as error:
        raise SpecError(f"cannot read the {what} {path}: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SpecError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, Mapping):
        raise SpecError(f"{path}: expected sections {sections}.")
    return content
