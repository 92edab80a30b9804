"""What made a results folder."""

import pathlib
from typing import Any

from csdl_keras._utils.files import read_json
from csdl_keras.experiments.reporting.visible import visible


def read_run_records(folder: pathlib.Path) -> list[dict[str, Any]]:
    """Reads `run.json`: `{"runs": [...]}`, or the one record of `csdl-keras compare`.

    Args:
        folder: results folder.

    Returns:
        Records with `command`, `date`, `versions` and `machine`, as far as they
        are known; none if there is no such file.

    Raises:
        ValueError: if it is not JSON of that kind.
    """
    path = folder / "run.json"
    if not path.exists():
        return []
    content = read_json(path)
    records = content.get("runs", [content])
    if not isinstance(records, list) or not all(_is_record(each) for each in records):
        raise ValueError(f'Expected {path} to be {{"runs": [records]}}; received other JSON.')
    return records


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("arguments", {}), dict)


def describe_mapping(value: Any) -> str:
    """A mapping as `name value, name value`; anything else as text, nothing as a dash.

    It is not escaped yet.

    Args:
        value: an entry of a record.

    Returns:
        A string.

    Example:

    >>> describe_mapping({"keras": "3.15", "cores": 2})
    'keras 3.15, cores 2'
    """
    if isinstance(value, dict):
        value = ", ".join(f"{name} {each}" for name, each in value.items())
    return visible(str(value)) if value not in (None, "") else "–"
