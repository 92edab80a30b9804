"""Bodies of requests as what a model takes, and their description for OpenAPI."""

import reprlib
from typing import Any

import numpy as np
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema, SchemaValidator, ValidationError
from pydantic_core import core_schema as types

from csdl_keras_cli.did_you_mean import did_you_mean
from csdl_keras_cli.saved_model import COST_MATRIX, Input, SavedModel

ROWS = "rows"
#: More categories are not listed.
_LISTED = 100


class RequestBody:
    """What requests hold: arrays, in `max_batch` at most, or rows, for a model with columns.

    With `missing_values`, null stands for missing values in arrays of floats.
    """

    def __init__(self, model: SavedModel, max_batch: int, missing_values: bool):
        self.model, self.max_batch = model, max_batch
        #: The arrays, and the JSON schemas of the columns of rows, or `None`.
        self.arrays, self.columns = dict(model.inputs), _columns_schema(model)
        if self.columns is not None:
            # Rows have the amounts that known costs are computed from.
            given = {COST_MATRIX} if model.known_costs is None else set()
            self.arrays = {name: model.inputs[name] for name in given & {*model.inputs}}
        schemas = {
            name: _array_schema(name, end, max_batch, missing_values)
            for name, end in self.arrays.items()
        }
        self._validators = {name: SchemaValidator(one) for name, one in schemas.items()}
        fields = {name: GenerateJsonSchema().generate(one) for name, one in schemas.items()}
        row = None if self.columns is None else _object(self.columns)
        if row is not None:
            fields[ROWS] = {"type": "array", "items": row, "minItems": 1, "maxItems": max_batch}
        #: The JSON schema of a request.
        self.schema = _object(fields)
        if [*fields] == [ROWS]:
            self.schema = {"anyOf": [self.schema, row]}

    def read(self, content: Any) -> tuple[Any, Any]:
        """Returns inputs and known costs for `SavedModel.decide`."""
        fields = {*self.arrays, *([] if self.columns is None else [ROWS])}
        if fields == {ROWS} and isinstance(content, dict) and ROWS not in content:
            content = {ROWS: [content]}  # One row by itself.
        if not isinstance(content, dict) or content.keys() != fields:
            found = sorted(content)[:20] if isinstance(content, dict) else type(content).__name__
            raise ValueError(
                f"Expected an object with exactly the fields {sorted(fields)}; received {found}."
            )
        feed: dict[str, Any] = {name: self._array(name, content[name]) for name in self.arrays}
        if self.columns is not None:
            feed[ROWS] = content[ROWS] if isinstance(content[ROWS], list) else []
        sizes = {name: len(it) for name, it in feed.items()}
        if COST_MATRIX in feed and (feed[COST_MATRIX].ndim == 2 or sizes[COST_MATRIX] == 1):
            del sizes[COST_MATRIX]  # One matrix is for all examples.
        if len(set(sizes.values())) != 1 or not 1 <= min(sizes.values()) <= self.max_batch:
            raise ValueError(
                f"Expected from 1 to {self.max_batch} inputs, as many in each field; received "
                f"{sizes}."
            )
        if self.columns is None:
            return feed, None
        columns = _columns(feed[ROWS], list(self.columns))
        return columns, feed.get(COST_MATRIX, self.model.costs_of(columns))

    def _array(self, name: str, values: Any) -> np.ndarray:
        """Returns nested lists as an array of the model's shape and dtype."""
        end = self.arrays[name]
        if name == COST_MATRIX and has_batch(name, end) and _is_matrix(values):
            values = [values]  # It is for all examples.
        try:
            return np.array(self._validators[name].validate_python(values), end.dtype)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            shape = str(list(end.shape)).replace("None", "any")
            raise ValueError(
                f"Expected {name!r} of shape {shape} and {end.dtype.name}; received "
                f"{reprlib.repr(first['input'])} at {list(first['loc'])}: {first['msg']}."
            ) from error
        except ValueError as error:
            message = f"Expected {name!r} with rows of one length; received some of others."
            raise ValueError(message) from error


def _array_schema(name: str, end: Input, max_batch: int, missing_values: bool) -> CoreSchema:
    """Returns the schema of an array as nested lists, which ends at the first error."""
    kind, costs = end.dtype.kind, name == COST_MATRIX
    found: CoreSchema = types.bool_schema(strict=True)
    if kind in "iu":
        info = np.iinfo(end.dtype)
        found = types.int_schema(strict=True, ge=int(info.min), le=int(info.max))
    elif kind == "f":
        most = float(np.finfo(end.dtype).max)
        found = types.float_schema(strict=True, ge=0.0 if costs else -most, le=most)
        found = types.nullable_schema(found) if missing_values and not costs else found
    elif kind == "U":
        found = types.str_schema(strict=True)
    for place, size in reversed(list(enumerate(end.shape))):
        batch = place == 0 and has_batch(name, end)
        low, high = (1, max_batch) if batch else (size, size)
        found = types.list_schema(found, min_length=low, max_length=high, fail_fast=True)
    return found


def has_batch(name: str, end: Input) -> bool:
    """Returns whether the first axis is that of examples, and not the rows of one cost matrix."""
    return name != COST_MATRIX or len(end.shape) == 3


def _is_matrix(values: Any) -> bool:
    """Returns True for a list of lists of anything else."""
    try:
        return not isinstance(values[0][0], list)
    except (IndexError, KeyError, TypeError):
        return False


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON schema of an object with exactly some fields."""
    rules = {"required": list(fields), "additionalProperties": False}
    return {"type": "object", "properties": fields, **rules}


def _columns_schema(model: SavedModel) -> dict[str, Any] | None:
    """Returns the JSON schema of each column, also of amounts, or `None` without columns."""
    columns = model.columns
    if columns is None:
        return None
    fields: dict[str, Any] = {}
    for name, known in zip(columns.names, columns.categories, strict=True):
        fields[name] = {"type": ["number", "boolean", "null"]}
        if known is not None:
            kind = "string" if isinstance(known[0], str) else "number"
            fields[name] = {"type": [kind, "null"], "description": "Others count as unknown."}
            fields[name] |= {"enum": [*known, None]} if len(known) <= _LISTED else {}
    for name, form in columns.dates:
        text = f"A date as strptime reads it by {form}." if form else "A date in ISO 8601."
        fields[name] = {"type": ["string", "null"], "description": text}
    return fields | {name: {"type": "number"} for name in model.amounts}


def _columns(rows: list[Any], names: list[str]) -> dict[str, list[Any]]:
    """Returns rows as columns; the model checks the types of their values."""
    for row in rows:
        if not isinstance(row, dict):
            raise ValueError(f"Expected rows as objects; received {reprlib.repr(row)}.")
        for name in sorted(row.keys() - names):
            meant = did_you_mean(name[:100], names)
            raise ValueError(f"Expected rows of the columns {names}; received {name!r}.{meant}")
        for name in sorted(names - row.keys()):
            raise ValueError(f"Expected a value of column {name!r}, or null, in each row.")
    return {name: [row[name] for row in rows] for name in names}
