"""Decisions on the test examples of a data set, with labels and matrices that price them."""

import io
import pathlib

import numpy as np

from csdl_keras._utils.array_file import read_npz
from csdl_keras._utils.files import replace_file
from csdl_keras.costs.generators import zero_one


def collapsed(
    decisions: np.ndarray, labels: np.ndarray, matrix: np.ndarray, in_errors: bool = False
) -> bool:
    """Tells whether decisions `(N,)` are no better than one decision for all examples.

    With `in_errors`, errors count in place of the costs of the matrix `(K, K)`.
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


class Decisions:
    """The arrays of `test_decisions/LABEL.npz` in a folder of results, none if it is not there.

    Args:
        folder: the folder of results.
        label: name of the data set, with `_imb` for the imbalanced variant.
    """

    def __init__(self, folder: pathlib.Path, label: str):
        self.path = folder / "test_decisions" / f"{label.replace('/', '_')}.npz"
        self.arrays = dict(read_npz(self.path)) if self.path.is_file() else {}

    def expect(self, name: str, array: np.ndarray) -> None:
        """Takes labels or a matrix; raises a ValueError if the file has others of that name."""
        if not np.array_equal(self.arrays.setdefault(name, array), array):
            raise ValueError(
                f"Expected {self.path} to hold results of the same test examples and cost "
                f"matrices; its {name!r} is another one. Take another folder."
            )

    def write(self) -> None:
        """Writes the file, labels and decisions in the smallest type that holds them."""
        small = {
            name: it if it.dtype.kind == "f" else it.astype(np.min_scalar_type(it.max()))
            for name, it in sorted(self.arrays.items())
        }
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **small)  # type: ignore[arg-type]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, buffer.getvalue())

    def priced(self, name: str, cost_seed: int) -> np.ndarray | None:
        """Returns the cost of each decision `name`, `None` if the file does not have them."""
        if name not in self.arrays:
            return None
        labels, matrix, decisions = self.labels, self.matrix(cost_seed), self.arrays[name]
        fits = labels.ndim == 1 and labels.size and labels.shape == decisions.shape
        square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
        if not (fits and square) or max(labels.max(), decisions.max()) >= len(matrix):
            raise ValueError(
                f"Expected labels and {name} in {self.path} to be (N,) classes of a (K, K) matrix; "
                f"received the shapes {labels.shape}, {decisions.shape} and {matrix.shape}."
            )
        return matrix[labels, decisions]

    @property
    def labels(self) -> np.ndarray:
        """The labels of the test examples."""
        return self._get("labels")

    def matrix(self, cost_seed: int) -> np.ndarray:
        """Returns a cost matrix in float64."""
        return self._get(f"matrix_{cost_seed}").astype("float64")

    def collapsed(self, name: str, cost_seed: int, in_errors: bool = False) -> bool:
        """Tells whether decisions, which are in the file, have collapsed."""
        return collapsed(self.arrays[name], self.labels, self.matrix(cost_seed), in_errors)

    def _get(self, name: str) -> np.ndarray:
        if name not in self.arrays:
            raise ValueError(
                f"Expected an array {name!r} in {self.path}; received "
                f"{', '.join(list(self.arrays)[:8])}, …"
            )
        return self.arrays[name]
