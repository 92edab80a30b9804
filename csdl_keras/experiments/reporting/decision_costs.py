"""What each decision of the test set costs."""

import pathlib
from collections.abc import Iterable

import numpy as np

from csdl_keras._utils.array_file import read_npz
from csdl_keras.experiments.grid_files import beta_name
from csdl_keras.experiments.reporting.beta_row import BetaRow
from csdl_keras.experiments.reporting.cost_row import CostRow


def read_decision_costs(
    path: pathlib.Path, rows: Iterable[CostRow]
) -> tuple[dict[str, dict[int, np.ndarray]], dict[int, float]]:
    """Reads decisions and prices each one with its cost matrix.

    Args:
        path: an npz file with `labels`, `matrix_SEED` and `ALGORITHM_SEED`.
        rows: the rows of `results.csv` on this data set.

    Returns:
        costs: `{algorithm: {cost_seed: costs (N,)}}`; rows without decisions are
            left out, and all of them if there is no file.
        largest: the largest cost of each matrix.

    Raises:
        ValueError: if arrays do not fit together or not to `average_cost`.
    """
    costs: dict[str, dict[int, np.ndarray]] = {}
    largest: dict[int, float] = {}
    if not path.is_file():
        return costs, largest
    arrays = read_npz(path)
    for row in rows:
        name = f"{row.algorithm}_{row.cost_seed}"
        if name not in arrays:
            continue
        matrix = _get(arrays, f"matrix_{row.cost_seed}", path)
        decided = _price(_get(arrays, "labels", path), arrays[name], matrix, name, path)
        # Figures and decisions of different runs must not be mixed.
        if not np.isclose(decided.mean(), row.average_cost, rtol=1e-3, atol=1e-6):
            raise ValueError(
                f"Expected {name} in {path} to cost what results.csv says, {row.average_cost}; "
                f"received decisions that cost {decided.mean()}."
            )
        costs.setdefault(row.algorithm, {})[row.cost_seed] = decided
        largest[row.cost_seed] = float(matrix.max())
    return costs, largest


def read_beta_costs(
    path: pathlib.Path, rows: Iterable[BetaRow]
) -> tuple[dict[float, dict[int, np.ndarray]], dict[int, float]]:
    """Reads the decisions of a curve of beta and prices each one with its cost matrix.

    Args:
        path: an npz file, see `read_decision_costs`, with `ALGORITHM_SEED_beta_BETA`.
        rows: the rows of `beta_curve.csv` on this data set.

    Returns:
        costs: `{beta: {cost_seed: costs (N,)}}`; points without decisions are left out.
        largest: the largest cost of each matrix.

    Raises:
        ValueError: if arrays do not fit together.
    """
    costs: dict[float, dict[int, np.ndarray]] = {}
    largest: dict[int, float] = {}
    arrays = read_npz(path) if path.is_file() else {}
    for row in rows:
        name = beta_name(row.algorithm, row.cost_seed, row.beta)
        if name in arrays:
            matrix = _get(arrays, f"matrix_{row.cost_seed}", path)
            decided = _price(_get(arrays, "labels", path), arrays[name], matrix, name, path)
            costs.setdefault(row.beta, {})[row.cost_seed] = decided
            largest[row.cost_seed] = float(matrix.max())
    return costs, largest


def _get(arrays: dict[str, np.ndarray], name: str, path: pathlib.Path) -> np.ndarray:
    if name not in arrays:
        raise ValueError(
            f"Expected an array {name!r} in {path}; received {', '.join(list(arrays)[:8])}, …"
        )
    return arrays[name]


def _price(
    labels: np.ndarray, decisions: np.ndarray, matrix: np.ndarray, name: str, path: pathlib.Path
) -> np.ndarray:
    """`matrix[labels, decisions]`, checked."""
    classes = matrix.shape[0] if matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] else 0
    fits = labels.ndim == 1 and labels.size > 0 and labels.shape == decisions.shape
    if not fits or max(labels.max(), decisions.max()) >= classes:
        raise ValueError(
            f"Expected labels and {name} in {path} to be (N,) classes of a (K, K) matrix; received "
            f"the shapes {labels.shape}, {decisions.shape} and {matrix.shape}."
        )
    return matrix.astype("float64")[labels, decisions]
