"""Converts JSON of requests to the arrays that a model takes."""

import json
from typing import Any

import numpy as np
from fastapi import HTTPException

WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
NAMES = {"float": "float32", "double": "float64", "string": "str"}
NAMES |= {name: name for name in (*WHOLE, "float16", "bool")}
DTYPES = {f"tensor({name})": np.dtype(dtype) for name, dtype in NAMES.items()}
COST_MATRIX = "cost_matrix"


def read_arrays(
    body: bytes, fields: dict[str, Any], max_batch: int, missing: bool = False
) -> dict[str, np.ndarray]:
    """Converts a JSON body to arrays of the model's shapes and dtypes.

    With `missing`, null and NaN are missing values of inputs of floats, but not of costs.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"Expected JSON; {error}.") from error
    if not isinstance(content, dict) or content.keys() != fields.keys():
        found = sorted(content)[:20] if isinstance(content, dict) else type(content).__name__
        message = f"Expected an object with exactly the fields {sorted(fields)}; received {found}."
        raise HTTPException(422, message[:1000])
    arrays = {
        name: read_array(name, content[name], end, missing and name != COST_MATRIX)
        for name, end in fields.items()
    }
    sizes = {name: len(array) for name, array in arrays.items()}
    if COST_MATRIX in fields and (len(fields[COST_MATRIX].shape) == 2 or sizes[COST_MATRIX] == 1):
        del sizes[COST_MATRIX]  # One matrix is for all examples.
    if len(set(sizes.values())) != 1 or not 1 <= min(sizes.values()) <= max_batch:
        message = f"Expected from 1 to {max_batch} inputs, as many in each field; received {sizes}."
        raise HTTPException(422, message)
    return arrays


def read_array(name: str, values: Any, end: Any, missing: bool = False) -> np.ndarray:
    """Converts nested lists to an array of the model's shape and dtype."""
    expected = row_shape(name, end)
    try:
        array = np.asarray(values)
    except ValueError as error:
        message = f"Expected {name!r} with rows of one length; received some of others."
        raise HTTPException(422, message) from error
    received = list(array.shape)
    if name == COST_MATRIX and len(end.shape) == 3 and array.ndim == 2:
        array = array[None]  # One matrix for all examples.
    batch = [None] * (len(end.shape) - len(expected))
    sizes = zip([*batch, *expected], array.shape, strict=False)
    right = array.ndim == len(end.shape) and all(size in (None, found) for size, found in sizes)
    if not right:
        shapes = " or ".join(map(str, shapes_of(name, end))).replace("None", "any")
        message = f"Expected {name!r} of shape {shapes}; received {received}."
        raise HTTPException(422, message)
    dtype = DTYPES[end.type]
    if dtype.kind == "U" or dtype.kind in "iu" and array.dtype.kind in "ifuO":
        # Floats cannot hold all integers of 64 bits, and NumPy turns numbers beside a string
        # into strings.
        array = np.asarray(values, dtype=object)
    return convert(name, array, dtype, missing)


def convert(name: str, array: np.ndarray, dtype: np.dtype, missing: bool = False) -> np.ndarray:
    """Converts values from JSON to the model's dtype; raises an HTTPException if it cannot."""
    if dtype.kind == "U":
        if not all(isinstance(value, str) for value in array.flat):
            raise HTTPException(422, f"Expected strings in {name!r}; received {kinds(array)}.")
        return array
    if dtype.kind == "b":
        if array.dtype.kind != "b":
            raise HTTPException(
                422, f"Expected true and false in {name!r}; received {kinds(array)}."
            )
        return array
    whole = dtype.kind in "iu"
    what = f"whole numbers in {name!r}, of {dtype}" if whole else f"numbers in {name!r}"
    try:
        if array.dtype.kind not in "iufO":  # Integers of more than 64 bits are objects.
            raise TypeError
        if array.dtype == object and any(isinstance(value, str) for value in array.flat):
            raise TypeError  # NumPy would read numbers from strings beside null.
        with np.errstate(over="ignore", invalid="ignore"):
            converted = array.astype(dtype)  # None becomes NaN.
    except (TypeError, ValueError, OverflowError) as error:
        raise HTTPException(422, f"Expected {what}; received {kinds(array)}.") from error
    if whole and (array.dtype != object or converted.tolist() != array.tolist()):
        raise HTTPException(422, f"Expected {what}; received {kinds(array)}.")
    if not whole:
        right = np.isfinite(converted) | (np.isnan(converted) & missing)
        check(right, array, f"finite numbers in {name!r}, of {dtype}")
    if name == COST_MATRIX:
        check(converted >= 0, array, f"costs of at least 0 in {name!r}")
    return converted


def kinds(array: np.ndarray) -> str:
    """Returns the types of an array's values in words."""
    return ", ".join(sorted({type(value).__name__ for value in array.flat})) or "nothing"


def check(right: np.ndarray, array: np.ndarray, what: str) -> None:
    """Raises an HTTPException that names the first number that is not right."""
    wrong = np.argwhere(~right)
    if len(wrong):
        place = tuple(int(index) for index in wrong[0])
        message = f"Expected {what}; received {str(array[place])[:50]} at {list(place)}."
        raise HTTPException(422, message)


def row_shape(name: str, end: Any) -> list[Any]:
    """Returns the shape of one input, or of a cost matrix; `None` is any size."""
    shape = [size if isinstance(size, int) else None for size in end.shape]
    return shape if name == COST_MATRIX and len(shape) == 2 else shape[1:]


def shapes_of(name: str, end: Any) -> list[list[Any]]:
    """Returns the shapes that a field of a request may have; `None` is any size."""
    row = row_shape(name, end)
    if name != COST_MATRIX:
        return [[None, *row]]
    return [row] if len(end.shape) == 2 else [row, [None, *row]]
