"""JSON files that the package wrote."""

import json
import pathlib
from typing import Any


def read_json(path: pathlib.Path) -> dict[str, Any]:
    """Reads a JSON object.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it holds anything else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"Expected {path} to be JSON; {error}.") from error
    if not isinstance(content, dict):
        raise ValueError(f"Expected {path} to be a JSON object; received other JSON.")
    return content
