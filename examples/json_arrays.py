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


def read_arrays(body: bytes, fields: dict[str, Any], max_batch: int) -> dict[str, np.ndarray]:
    """Converts a JSON body to arrays of the model's shapes and dtypes."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"Expected JSON; {error}.") from error
    if not isinstance(content, dict) or content.keys() != fields.keys():
        raise HTTPException(422, f"Expected an object with exactly the fields {sorted(fields)}.")
    arrays = {name: read_array(name, content[name], end) for name, end in fields.items()}
    sizes = {len(array) for name, array in arrays.items() if name != COST_MATRIX}
    if len(sizes) != 1 or not 1 <= min(sizes) <= max_batch:
        raise HTTPException(422, f"Expected from 1 to {max_batch} inputs, as many in each field.")
    return arrays


def read_array(name: str, values: Any, end: Any) -> np.ndarray:
    """Converts nested lists to an array of the model's shape and dtype."""
    expected = row_shape(name, end)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise HTTPException(422, f"Expected {name!r} with rows of one length.") from error
    shape = array.shape if name == COST_MATRIX else array.shape[1:]
    sizes = zip(expected, shape, strict=False)
    right = array.ndim == len(end.shape) and all(size in (None, found) for size, found in sizes)
    if not right:
        message = f"Expected {name!r} of shape {expected}; received {list(array.shape)}."
        raise HTTPException(422, message)
    dtype = DTYPES[end.type]
    if dtype.kind == "U" or dtype.kind in "iu" and array.dtype.kind in "ifuO":
        # Floats cannot hold all integers of 64 bits, and NumPy turns numbers beside a string
        # into strings.
        array = np.asarray(values, dtype=object)
    return convert(name, array, dtype)


def convert(name: str, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Converts values from JSON to the model's dtype; raises an HTTPException if it cannot."""
    if dtype.kind == "U":
        if not all(isinstance(value, str) for value in array.flat):
            raise HTTPException(422, f"Expected strings in {name!r}.")
        return array
    if dtype.kind == "b":
        if array.dtype.kind != "b":
            raise HTTPException(422, f"Expected true and false in {name!r}.")
        return array
    whole = dtype.kind in "iu"
    what = f"whole numbers in {name!r}, of {dtype}" if whole else f"numbers in {name!r}"
    try:
        if array.dtype.kind not in "iufO":  # Integers of more than 64 bits are objects.
            raise TypeError
        with np.errstate(over="ignore", invalid="ignore"):
            converted = array.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise HTTPException(422, f"Expected {what}.") from error
    if whole and (array.dtype != object or converted.tolist() != array.tolist()):
        raise HTTPException(422, f"Expected {what}.")
    if not whole and not np.isfinite(converted).all():
        raise HTTPException(422, f"Expected finite numbers in {name!r}, of {dtype}.")
    if name == COST_MATRIX and converted.min() < 0:
        raise HTTPException(422, f"Expected costs of at least 0 in {name!r}.")
    return converted


def row_shape(name: str, end: Any) -> list[Any]:
    """Returns the shape of one input, or of the cost matrix; `None` is any size."""
    shape = [size if isinstance(size, int) else None for size in end.shape]
    return shape if name == COST_MATRIX else shape[1:]
