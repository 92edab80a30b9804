"""Validates and describes the bodies of requests and answers."""

import reprlib
from typing import Annotated, Any

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    with_config,
)
from typing_extensions import TypedDict

from csdl_keras_cli.columns import Columns
from csdl_keras_cli.did_you_mean import did_you_mean
from csdl_keras_cli.saved_model import COST_MATRIX, Input, SavedModel

ROWS = "rows"
#: A description lists at most this many categories.
_LISTED = 100


class Answer(BaseModel):
    """The decision for each input, and the expected cost of each decision."""

    decisions: list[str | int | float]
    expected_costs: list[list[float]]


class RequestBody:
    """Reads requests, which contain arrays or, for a model with columns, rows of a table."""

    def __init__(self, model: SavedModel, max_batch: int, missing_values: bool):
        self.model = model
        #: The arrays, and the JSON schemas of the columns of rows, or `None`.
        self.arrays, self.columns = dict(model.inputs), None
        fields: dict[str, Any] = {}
        if model.columns is not None:
            # Known costs are computed from amounts in the rows.
            given = {COST_MATRIX} if model.known_costs is None else set()
            self.arrays = {name: model.inputs[name] for name in given & {*model.inputs}}
            self.columns = _columns_schema(model.columns, model.amounts)
            cells = {name: Annotated[Any, WithJsonSchema(it)] for name, it in self.columns.items()}
            row: Any = _object_type("Row", cells)
            length = Field(min_length=1, max_length=max_batch)
            fields[ROWS] = Annotated[list[row], length, FailFast()]
        for name, end in self.arrays.items():
            fields[name] = _array_type(name, end, max_batch, missing_values)
        self._body = TypeAdapter(_object_type("Request", fields))
        self._only_rows = [*fields] == [ROWS]
        #: The JSON schema of a request, without references, which OpenAPI would not find.
        self.schema = self._body.json_schema()
        if self.columns is not None:
            row = self.schema.pop("$defs")["Row"]
            self.schema["properties"][ROWS]["items"] = row
            self.schema = {"anyOf": [self.schema, row]} if self._only_rows else self.schema

    def read(self, content: Any) -> tuple[Any, Any]:
        """Returns inputs and known costs for `SavedModel.decide`."""
        if self._only_rows and isinstance(content, dict) and ROWS not in content:
            content = {ROWS: [content]}  # It is a single row.
        try:
            found = self._body.validate_python(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            shapes = [
                f"{name!r} of shape {list(end.shape)} and {end.dtype.name}".replace("None", "any")
                for name, end in self.arrays.items()
            ]
            expected = ", ".join([*shapes, "rows as objects"] if self.columns else shapes)
            raise ValueError(
                f"Expected {expected}; received {reprlib.repr(first['input'])} at "
                f"{list(first['loc'])}: {first['msg']}"
            ) from error
        arrays = {name: np.array(found[name], end.dtype) for name, end in self.arrays.items()}
        sizes = {name: len(it) for name, it in found.items()}
        if COST_MATRIX in arrays and (arrays[COST_MATRIX].ndim == 2 or sizes[COST_MATRIX] == 1):
            del sizes[COST_MATRIX]  # One matrix serves all examples.
        if len({*sizes.values()}) > 1:
            raise ValueError(f"Fields must have the same number of examples; received {sizes}.")
        if self.model.columns is None:
            return arrays, None
        names = {*self.model.columns.names, *self.model.amounts}
        columns = {name: [row[str(name)] for row in found[ROWS]] for name in names}
        return columns, arrays.get(COST_MATRIX, self.model.costs_of(columns))


def _object_type(title: str, fields: dict[str, Any]) -> Any:
    """Returns the type of an object; validation stops at the first unknown name."""

    def check(value: Any) -> Any:
        for name in value if isinstance(value, dict) else ():
            if name not in fields:
                meant = did_you_mean(name[:100], fields)
                raise ValueError(f"the name {name[:100]!r} is unknown.{meant}")
        return value

    made = TypedDict(title, fields)  # type: ignore[misc]
    return Annotated[with_config(ConfigDict(extra="forbid"))(made), BeforeValidator(check)]


def _array_type(name: str, end: Input, max_batch: int, missing_values: bool) -> Any:
    """Returns the type of an array as nested lists; validation stops at the first error."""
    kind, costs = end.dtype.kind, name == COST_MATRIX
    plain = {"b": bool, "i": int, "u": int, "f": float, "U": str}
    found: Any = Annotated[plain[kind], Strict()]
    if kind in "iu":
        info = np.iinfo(end.dtype)
        found = Annotated[found, Field(ge=int(info.min), le=int(info.max))]
    elif kind == "f":
        most = float(np.finfo(end.dtype).max)
        found = Annotated[found, Field(ge=0.0 if costs else -most, le=most)]
        found = found | None if missing_values and not costs else found
    for place, size in reversed(list(enumerate(end.shape))):
        batch = place == 0 and has_batch(name, end)
        low, high = (1, max_batch) if batch else (size, size)
        found = Annotated[list[found], Field(min_length=low, max_length=high), FailFast()]
    return Annotated[found, BeforeValidator(_as_batch)] if costs and has_batch(name, end) else found


def has_batch(name: str, end: Input) -> bool:
    """Returns whether the first axis is that of examples, not the rows of one cost matrix."""
    return name != COST_MATRIX or len(end.shape) == 3


def _as_batch(values: Any) -> Any:
    """Returns a single cost matrix as a batch of one."""
    try:
        return values if isinstance(values[0][0], list) else [values]
    except (IndexError, KeyError, TypeError):
        return values


def _columns_schema(columns: Columns, amounts: list[str]) -> dict[str, dict[str, Any]]:
    """Returns the JSON schema of each column; the model itself checks types."""
    fields: dict[str, dict[str, Any]] = {}
    for name, known in zip(columns.names, columns.categories, strict=True):
        fields[str(name)] = {"type": ["number", "boolean", "null"]}
        if known is not None:
            kind = "string" if isinstance(known[0], str) else "number"
            fields[str(name)] = {"type": [kind, "null"], "description": "Others count as unknown."}
            fields[str(name)] |= {"enum": [*known, None]} if len(known) <= _LISTED else {}
    for name, form in columns.dates:
        text = f"A date in the strptime format {form}." if form else "An ISO 8601 date."
        fields[str(name)] = {"type": ["string", "null"], "description": text}
    return fields | {name: {"type": "number"} for name in amounts}
