"""Trains and restores `CSOSR`, the kernel machine of Table 1."""

import importlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras._utils.arrays import variance_beyond_rounding
from csdl_keras.training.data import Examples
from csdl_keras.training.recipe import Recipe

_BASELINES, _ARRAYS = "csdl_keras.baselines", "csdl_keras.baselines._csosr_arrays"


def fit_csosr(recipe: Recipe, data: Examples) -> tuple[list[np.ndarray], dict[str, Any]]:
    """Fits `CSOSR` on flattened inputs and scaled costs; returns it as arrays, a record first."""
    body, rows = recipe.body, data.x.reshape(len(data.x), -1)
    unit = rows.shape[1] * variance_beyond_rounding(rows) or 1.0  # 1 where all examples are alike
    machine = importlib.import_module(_BASELINES).CSOSR(
        penalty=body.penalty,
        gamma=float(body.gamma_factor / unit),
        cost_matrix=recipe.scaled if data.costs is None else None,
        binary_costs=True,  # They were checked before they were scaled.
    )
    machine.fit(rows, data.y if data.costs is None else data.costs / recipe.unit)
    info = {"epochs": int(machine.n_iter_), "duality_gap": float(machine.duality_gap_)}
    record, arrays = importlib.import_module(_ARRAYS).to_arrays(machine)
    return [np.frombuffer(json.dumps(record).encode(), np.uint8), *arrays], info


def load_csosr(arrays: Sequence[np.ndarray]) -> Any:
    """Returns the `CSOSR` that `fit_csosr` returned."""
    machine = importlib.import_module(_BASELINES).CSOSR()
    record = json.loads(arrays[0].tobytes())
    return importlib.import_module(_ARRAYS).restore(machine, record, arrays[1:])
