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
    """Maps examples to kernel values with the training examples `x`, or to Nyström features.

    The other arguments are those of `CSOSR`.

    >>> x = np.array([[0.0], [1.0]])
    >>> KernelMap(x, gamma=2.0).matrix(x).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """

    def __init__(
        self,
        x: np.ndarray,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        method: str = "auto",
        n_components: int = 1000,
        exact_limit: int = 10_000,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.kernel = check_choice("kernel", kernel, ("rbf", "precomputed"))
        check_choice("method", method, ("auto", "exact", "nystroem"))
        n_components = check_integer("n_components", n_components)
        exact_limit = check_integer("exact_limit", exact_limit)
        check_random_state(random_state)
        self.gamma = None if kernel == "precomputed" else _scale(gamma, x)
        self.nystroem: Nystroem | None = None
        self.x_fit: np.ndarray | None = None
        if kernel == "precomputed":
            if method == "nystroem":
                raise ValueError(
                    "Expected `method` to be 'auto' or 'exact' with kernel='precomputed', since "
                    f"Nyström features need the examples; received {method!r}."
                )
            if x.shape[0] != x.shape[1]:
                raise ValueError(
                    "Expected `X` to be a kernel matrix (N, N) with kernel='precomputed'; "
                    f"received shape {x.shape}."
                )
        elif method == "exact" or (method == "auto" and len(x) <= exact_limit):
            self.x_fit = x.copy()  # The caller may change the array later.
        else:
            size = min(n_components, len(x))
            # In float32 the kernel's small eigenvalues are noise, which inversion amplifies.
            self.nystroem = Nystroem(
                gamma=self.gamma, n_components=size, random_state=random_state
            ).fit(x.astype(np.float64))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Maps `(M, features)` to kernel values `(M, N)` or features `(M, n_components)`."""
        if self.kernel == "precomputed":
            return x
        if self.nystroem is not None:
            return self.nystroem.transform(x.astype(np.float64))
        return rbf_kernel(x, self.x_fit, gamma=self.gamma)

    def matrix(self, x: np.ndarray) -> np.ndarray:
        """Returns the map of all training examples, in their dtype."""
        if self.kernel == "precomputed":
            return x
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
        hint = " Reshape it: `X.reshape(len(X), -1)`." if array.ndim > 2 else ""
        raise ValueError(
            f"Expected `X` of shape (N, features); received shape {array.shape}.{hint}"
        )
    if width is not None:
        check_example_shape("`X`", array, (width,), f"{width} features as in `fit`")
    with np.errstate(over="ignore"):  # Wider floats that overflow raise below.
        array = array.astype(np.float32 if array.dtype == np.float32 else np.float64, copy=False)
    what = f"finite and of a size up to {_LARGEST:g}"
    check_entries("X", array, np.abs(array) <= _LARGEST, what)
    return array
