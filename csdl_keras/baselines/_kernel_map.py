"""Maps examples to kernel values or Nyström features."""

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_random_state, gen_batches

from csdl_keras._utils.arrays import (
    check_entries,
    check_example_shape,
    number_array,
    variance_beyond_rounding,
)
from csdl_keras._utils.checks import check_choice, check_integer, check_number
from csdl_keras._utils.types import ArrayLike

#: Number of rows of a kernel that are computed together.
_BATCH = 1024

#: Largest input: squares of larger ones, and so distances, would overflow in float32.
_LARGEST = 1e18


class KernelMap:
    """Maps examples to Gaussian kernel values with the training examples `x`, or Nyström features.

    The other arguments are those of `CSOSR`.
    """

    def __init__(
        self,
        x: np.ndarray,
        gamma: float | str = "scale",
        n_components: int = 1000,
        exact_limit: int = 10_000,
        random_state: int | np.random.RandomState | None = 0,
    ):
        n_components = check_integer("n_components", n_components)
        exact_limit = check_integer("exact_limit", exact_limit, low=0)
        check_random_state(random_state)
        self.gamma = _scale(gamma, x)
        self.nystroem: Nystroem | None = None
        self.x_fit: np.ndarray | None = None
        if len(x) <= exact_limit:
            self.x_fit = x.copy()  # The caller may change the array later.
        else:
            size = min(n_components, len(x))
            # In float32 the kernel's small eigenvalues are noise, which inversion amplifies.
            self.nystroem = Nystroem(
                gamma=self.gamma, n_components=size, random_state=random_state
            ).fit(x.astype(np.float64))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Maps `(M, features)` to kernel values `(M, N)` or features `(M, n_components)`."""
        if self.nystroem is not None:
            return self.nystroem.transform(x.astype(np.float64))
        return rbf_kernel(x, self.x_fit, gamma=self.gamma)

    def matrix(self, x: np.ndarray) -> np.ndarray:
        """Returns the map of all training examples, in their dtype."""
        width = len(x) if self.nystroem is None else len(self.nystroem.components_)
        # Filled in place, since a second copy of the matrix might not fit into memory.
        matrix = np.empty((len(x), width), dtype=x.dtype)
        for batch in gen_batches(len(x), _BATCH):
            matrix[batch] = self(x[batch])
        return matrix

    def times(self, x: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Computes `map(x) @ coefficients` without the whole map in memory."""
        batches = gen_batches(len(x), _BATCH)
        return np.concatenate([self(x[batch]) @ coefficients for batch in batches])


def _scale(gamma: float | str, x: np.ndarray) -> float:
    """Returns the number that `gamma` stands for."""
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale",))
        variance = variance_beyond_rounding(x)
        return 1.0 / (x.shape[1] * variance) if variance else 1.0
    return check_number("gamma", gamma, low=0, high=1e30, exclude_low=True)


def check_features(features: ArrayLike, width: int | None = None) -> np.ndarray:
    """Returns `(N, features)` as a finite matrix, float32 if it was and float64 otherwise."""
    array = number_array("X", features, "(N, features)")
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"Expected `X` of shape (N, features); received shape {array.shape}.")
    if width is not None:
        check_example_shape("`X`", array, (width,), f"{width} features as in `fit`")
    array = array.astype(np.float32 if array.dtype == np.float32 else np.float64, copy=False)
    check_entries("X", array, np.abs(array) <= _LARGEST, f"finite and of a size up to {_LARGEST:g}")
    return array
