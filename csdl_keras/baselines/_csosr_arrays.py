"""Converts a fitted CSOSR to arrays and back; unlike a pickle, a file of them runs no code."""

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import Nystroem

from csdl_keras.baselines._kernel_map import KernelMap

Estimator = TypeVar("Estimator", bound=BaseEstimator)
#: What `_utils.array_file` writes as JSON.
Record: TypeAlias = dict[str, Any]

_FITTED = (
    "coef_",
    "intercept_",
    "objective_",
    "duality_gap_",
    "n_iter_",
    "n_features_in_",
    "classes_",
)
_MAP = ("gamma", "x_fit")
_NYSTROEM = ("components_", "normalization_", "component_indices_", "n_features_in_")


def to_record(machine: BaseEstimator) -> Record:
    """Returns what `write_arrays` writes."""

    def values(thing: object, names: Sequence[str]) -> Record:
        return {name: getattr(thing, name) for name in names}

    nystroem = machine.map_.nystroem
    return {
        "kind": "CSOSR",
        "arguments": machine.get_params(),
        "fitted": values(machine, _FITTED),
        "map": values(machine.map_, _MAP),
        "nystroem": None if nystroem is None else values(nystroem, _NYSTROEM),
    }


def restore(machine: Estimator, record: Record) -> Estimator:
    """Sets the arguments and fitted attributes of a CSOSR and returns it."""
    if record.get("kind") != "CSOSR" or record["map"].get("kernel") == "precomputed":
        raise ValueError(
            "Expected a file that CSOSR.save wrote, of a machine with a Gaussian kernel; received "
            "one of another kind."
        )

    def assign(thing: object, values: Record) -> None:
        for name, value in values.items():
            setattr(thing, name, value)

    machine.map_ = KernelMap.__new__(KernelMap)
    assign(machine.map_, {**record["map"], "nystroem": None})
    if record["nystroem"] is not None:
        machine.map_.nystroem = Nystroem(gamma=machine.map_.gamma)
        assign(machine.map_.nystroem, record["nystroem"])
    assign(machine, {**record["arguments"], **record["fitted"]})
    return machine
