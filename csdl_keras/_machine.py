"""How the kernel machine of Table 1 is trained and kept."""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from csdl_keras._examples import Examples
from csdl_keras._job import Job
from csdl_keras._optional import optional_module


def fit_machine(job: Job, data: Examples) -> tuple[list[np.ndarray], dict[str, Any]]:
    """Fits `CSOSR` on flattened inputs and scaled costs; returns it as an array of bytes."""
    settings, rows = job.settings, data.x.reshape(len(data.x), -1)
    machine = optional_module("csdl_keras.baselines", "compare").CSOSR(
        penalty=settings.penalty,
        gamma=float(settings.gamma_factor / (rows.shape[1] * rows.var())),
        cost_matrix=job.scaled if data.costs is None else None,
    )
    machine.fit(rows, data.y if data.costs is None else data.costs / job.unit)
    info = {"epochs": int(machine.n_iter_), "duality_gap": float(machine.duality_gap_)}
    return [np.frombuffer(pickle.dumps(machine), np.uint8)], info


def load_machine(arrays: Sequence[np.ndarray]) -> Any:
    """The `CSOSR` that `fit_machine` returned."""
    return pickle.loads(arrays[0].tobytes())
