"""Arrays of costs, as every function of this package takes them."""

from typing import Any

import numpy as np

from csdl_keras._array_checks import as_array, check_entries, real_array

REGRET_HINT = (
    "If the costs are amounts of money (gains are negative, right decisions cost something "
    "too), pass `csdl_keras.costs.regret(...)` of them, which changes no optimal decision."
)

# Networks compute in float32, in which larger ones are infinite; and no sum of costs overflows.
LARGEST = 1e38


def amounts(name: str, values: Any, ndim: int, shape: str, negative: bool = True) -> np.ndarray:
    """`values` as a float64 array of finite costs; `negative=False` refuses gains."""
    array = real_array(name, values, ndim, shape)
    check_entries(name, array, np.abs(array) <= LARGEST, f"of a size up to {LARGEST:g}")
    if not negative:
        check_entries(name, array, array >= 0, "at least 0", f" {REGRET_HINT}")
    return array


def one_for_each(name: str, values: Any, number: int, what: str) -> np.ndarray:
    """`number` finite costs, from as many or from a single one."""
    shape = f"() or ({number},)"
    array = as_array(name, values, shape)
    array = amounts(name, np.full(number, array) if array.ndim == 0 else array, 1, shape)
    if len(array) != number:
        raise ValueError(
            f"Expected one `{name}`, or one for each of {number} {what}; received {len(array)}."
        )
    return array
