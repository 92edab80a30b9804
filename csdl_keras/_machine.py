"""How the kernel machine of Table 1 is trained and kept."""

import importlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras._examples import Examples
from csdl_keras._job import Job
from csdl_keras._utils.arrays import variance_beyond_rounding

_MACHINES, _ARRAYS = "csdl_keras.baselines", "csdl_keras.baselines._csosr_arrays"


def fit_machine(job: Job, data: Examples) -> tuple[list[np.ndarray], dict[str, Any]]:
    """Fits `CSOSR` on flattened inputs and scaled costs; returns it as arrays, a record first."""
    settings, rows = job.settings, data.x.reshape(len(data.x), -1)
    unit = rows.shape[1] * variance_beyond_rounding(rows) or 1.0  # of examples that are all alike
    machine = importlib.import_module(_MACHINES).CSOSR(
        penalty=settings.penalty,
        gamma=float(settings.gamma_factor / unit),
        cost_matrix=job.scaled if data.costs is None else None,
    )
    machine.fit(rows, data.y if data.costs is None else data.costs / job.unit)
    info = {"epochs": int(machine.n_iter_), "duality_gap": float(machine.duality_gap_)}
    record, arrays = importlib.import_module(_ARRAYS).to_arrays(machine)
    return [np.frombuffer(json.dumps(record).encode(), np.uint8), *arrays], info


def load_machine(arrays: Sequence[np.ndarray]) -> Any:
    """The `CSOSR` that `fit_machine` returned."""
    machine = importlib.import_module(_MACHINES).CSOSR()
    record = json.loads(arrays[0].tobytes())
    return importlib.import_module(_ARRAYS).restore(machine, record, arrays[1:])
