"""The files of test decisions, with labels and cost matrices that say what each one costs."""

import io
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from csdl_keras._utils.array_file import read_npz
from csdl_keras._utils.files import replace_file
from csdl_keras.costs.generators import zero_one
from csdl_keras.experiments.data_source import DataSource, results_path


class DecisionFiles:
    """Reads and writes `test_decisions/NAME.npz` of the data sets of a folder.

    Args:
        folder: the folder of the results, made if it is not there.
    """

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        (folder / "test_decisions").mkdir(parents=True, exist_ok=True)

    def read(self, source: DataSource, matrices: Mapping[int, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns the arrays of a file, with labels and cost matrices, which must be the same."""
        path = results_path(self.folder, source.label)
        arrays = dict(read_npz(path)) if path.exists() else {}
        new = {"labels": source.load().y_test}
        new |= {f"matrix_{seed}": matrix for seed, matrix in matrices.items()}
        for name, array in new.items():
            if not np.array_equal(arrays.setdefault(name, array), array):
                raise ValueError(
                    f"Expected {path} to hold results of the same test examples and cost "
                    f"matrices; its {name!r} is another one. Take another folder."
                )
        return arrays

    def write(self, source: DataSource, arrays: dict[str, Any]) -> None:
        """Writes arrays, those of labels and decisions in the smallest type that holds them."""
        small = {
            name: it if it.dtype.kind == "f" else it.astype(np.min_scalar_type(it.max()))
            for name, it in sorted(arrays.items())
        }
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **small)
        replace_file(results_path(self.folder, source.label), buffer.getvalue())


def is_collapsed(
    decisions: np.ndarray, labels: np.ndarray, matrix: np.ndarray, in_errors: bool = False
) -> bool:
    """Tells whether decisions are no better than one and the same decision for all examples.

    Args:
        decisions: the decisions `(N,)`.
        labels: the labels `(N,)`.
        matrix: the cost matrix `(K, K)`.
        in_errors: whether to count errors in place of costs. Defaults to False.
    """
    costs = zero_one(len(matrix)) if in_errors else matrix.astype("float64")
    best_single = costs[labels].mean(axis=0).min()
    same = bool((decisions == decisions[0]).all())
    return same or bool(costs[labels, decisions].mean() >= best_single)


def decisions_name(algorithm: str, cost_seed: int, seed: int) -> str:
    """Returns the name of the array of an algorithm's decisions for a matrix and training seed."""
    return f"{algorithm}_{cost_seed}" + (f"_seed_{seed}" if seed else "")


def beta_name(algorithm: str, cost_seed: int, beta: float) -> str:
    """Returns the name of the array of decisions at a point of the curve of beta."""
    return f"{algorithm}_{cost_seed}_beta_{str(float(beta)).removesuffix('.0')}"
