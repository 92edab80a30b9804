"""A fitted CSOSR as arrays, which unlike pickles are no programs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem

from csdl_keras._utils.array_file import pack, unpack
from csdl_keras.baselines._kernel_map import KernelMap

_FITTED = (
    "coef_",
    "intercept_",
    "objective_",
    "duality_gap_",
    "n_iter_",
    "n_features_in_",
    "classes_",
)
_MAP = ("kernel", "gamma", "x_fit")
_NYSTROEM = ("components_", "normalization_", "component_indices_", "n_features_in_")


def to_arrays(machine: Any) -> tuple[dict[str, Any], list[np.ndarray]]:
    """A record, fit for JSON, and the arrays that it refers to."""
    arrays: list[np.ndarray] = []

    def values(thing: Any, names: Sequence[str]) -> dict[str, Any]:
        return {name: pack(getattr(thing, name), arrays) for name in names}

    nystroem = machine.map_.nystroem
    record = {
        "kind": "CSOSR",
        "arguments": {name: pack(it, arrays) for name, it in machine.get_params().items()},
        "fitted": values(machine, _FITTED),
        "map": values(machine.map_, _MAP),
        "nystroem": None if nystroem is None else values(nystroem, _NYSTROEM),
    }
    return record, arrays


def restore(machine: Any, record: dict[str, Any], arrays: Sequence[np.ndarray]) -> Any:
    """Gives a CSOSR the arguments and what was fitted, and returns it.

    Raises:
        ValueError: if the record is of something else.
    """
    if record.get("kind") != "CSOSR":
        raise ValueError("Expected a file that CSOSR.save wrote; received one of something else.")

    def give(thing: Any, values: dict[str, Any]) -> Any:
        for name, value in values.items():
            setattr(thing, name, unpack(value, arrays))
        return thing

    give(machine, {**record["arguments"], **record["fitted"]})
    machine.map_ = give(KernelMap.__new__(KernelMap), {**record["map"], "nystroem": None})
    if record["nystroem"] is not None:
        machine.map_.nystroem = give(Nystroem(gamma=machine.map_.gamma), record["nystroem"])
    return machine
