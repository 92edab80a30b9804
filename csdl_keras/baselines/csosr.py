"""Cost-sensitive one-sided support vector regression."""

import dataclasses
import os
import pathlib
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_array, gen_batches
from sklearn.utils.validation import check_is_fitted

from csdl_keras._utils.arrays import check_rows
from csdl_keras._utils.checks import check_choice, check_integer, check_number
from csdl_keras._utils.files import read_arrays, write_arrays
from csdl_keras._utils.types import ArrayLike
from csdl_keras.baselines.one_sided_dual import solve_one_sided_dual
from csdl_keras.costs.checks import check_cost_matrix, check_cost_vectors
from csdl_keras.costs.conversions import cost_vectors

#: Dtypes that are kept; others are converted to the first one.
_FLOATS = (np.float64, np.float32)


class CSOSR(ClassifierMixin, BaseEstimator):
    """Cost-sensitive one-sided support vector regression with a Gaussian kernel.

    It estimates the cost of each decision `k` by `r_k(x) = w_k . phi(x) + b_k`, which minimises

        1/2 (|w_k|^2 + b_k^2) + penalty * sum_n max(z_nk (r_k(x_n) - c_nk), 0),

    where `z_nk` is +1 if `c_nk` is the example's smallest cost (ties included) and -1
    otherwise, and `phi(x) . phi(x') = exp(-gamma |x - x'|^2)`. It decides by argmin.

    It is a scikit-learn classifier. Costs `s` times as large need a penalty `s` times as large.

    Args:
        penalty: weight of the slacks, above 0 and at most 1e30. Defaults to 1.
        gamma: factor of the kernel, or `"scale"` (default) for `1 / (features * X.var())`.
        cost_matrix: `(K, K)`, `C[true, decision]`, if `y` contains integer labels `(N,)`;
            `None` (default) if `y` contains cost vectors `(N, D)`.
        n_components: number of Nyström features. Defaults to 1000.
        exact_limit: largest N for which the kernel is exact, without Nyström. Defaults to 10,000.
        tol: relative duality gap at which the solver stops. Defaults to 1e-3.
        max_iter: largest number of solver steps. Defaults to 5000.
        random_state: seed of the Nyström method. Defaults to 0.
        binary_costs: as in `costs.check_cost_vectors`. Defaults to False.

    Attributes:
        coef_: `(N, D)` weights of training examples, or of Nyström features.
        intercept_: `(D,)`, `b`.
        objective_: primal objective summed over decisions.
        duality_gap_: bound on the distance of `objective_` from the optimum.
        n_iter_: number of steps.
        map_: the fitted `KernelMap`, with its `gamma`.
        classes_: the decisions.
        n_features_in_: as in scikit-learn.

    References:
        - [Tu, Lin: One-sided support vector regression for multiclass
          cost-sensitive classification, ICML 2010](https://icml.cc/Conferences/2010/papers/345.pdf)

    Example:

    >>> x, y = [[0.0], [0.1], [1.0], [1.1]], [0, 0, 1, 1]
    >>> model = CSOSR(penalty=10, gamma=1.0, cost_matrix=[[0, 1], [5, 0]]).fit(x, y)
    >>> model.predict([[0.0], [1.0]])
    array([0, 1])
    """

    def __init__(
        self,
        penalty: float = 1.0,
        gamma: float | str = "scale",
        cost_matrix: ArrayLike | None = None,
        n_components: int = 1000,
        exact_limit: int = 10_000,
        tol: float = 1e-3,
        max_iter: int = 5000,
        random_state: int | None = 0,
        binary_costs: bool = False,
    ):
        self.penalty = penalty
        self.gamma = gamma
        self.cost_matrix = cost_matrix
        self.n_components = n_components
        self.exact_limit = exact_limit
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.binary_costs = binary_costs

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Fits the regressors and returns the estimator.

        Warns with scikit-learn's `ConvergenceWarning` if `max_iter` steps do not reach `tol`.

        Args:
            X: examples `(N, features)`. Float32 examples are solved in float32, others in float64.
            y: labels `(N,)` with a cost matrix, otherwise cost vectors `(N, D)`.
        """
        penalty = check_number("penalty", self.penalty, low=0, high=1e30, exclude_low=True)
        tol = check_number("tol", self.tol, low=0, exclude_low=True)
        max_iter = check_integer("max_iter", self.max_iter)
        x = check_array(X, dtype=_FLOATS)
        costs = self._costs(y)
        check_rows("y", costs, len(x), "rows of `X`")
        gamma = self.gamma
        if isinstance(gamma, str):
            check_choice("gamma", gamma, ("scale",))
            gamma = float(1.0 / (x.shape[1] * x.var(dtype=np.float64) or 1.0))
        else:
            gamma = check_number("gamma", gamma, low=0, high=1e30, exclude_low=True)
        self.n_features_in_ = x.shape[1]
        self.classes_ = np.arange(costs.shape[1])
        nystroem = len(x) > self.exact_limit
        self.map_ = KernelMap(gamma, None if nystroem else x.copy())
        if nystroem:
            features = min(self.n_components, len(x))
            made = Nystroem(
                gamma=self.map_.gamma, n_components=features, random_state=self.random_state
            )
            # In float32 the kernel's small eigenvalues are noise, which inversion amplifies.
            self.map_.nystroem = made.fit(x.astype(np.float64))
        matrix = self.map_(x).astype(x.dtype, copy=False)

        def product(v: np.ndarray) -> np.ndarray:
            low = v.astype(matrix.dtype)
            image = matrix @ (matrix.T @ low) if nystroem else matrix @ low
            # The bias is the weight of a constant feature, which adds one to the kernel.
            return image + v.sum(axis=0)

        solution = solve_one_sided_dual(product, costs, penalty, tol, max_iter)
        self.intercept_ = solution.coefficients.sum(axis=0)
        self.coef_ = matrix.T @ solution.coefficients if nystroem else solution.coefficients
        self.objective_, self.duality_gap_ = solution.objective, solution.gap
        self.n_iter_ = solution.n_iter
        if self.duality_gap_ > tol * self.objective_:
            warnings.warn(
                f"The duality gap is {self.duality_gap_ / self.objective_:.2g} times the objective "
                f"after max_iter={max_iter} steps, above tol={tol:g}. Raise `max_iter` or `tol`.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict_costs(self, X: ArrayLike) -> np.ndarray:  # noqa: N803
        """Returns estimated costs `(N, D)`, float64, in the unit of the costs in `fit`."""
        check_is_fitted(self)
        x = check_array(X, dtype=_FLOATS)
        batches = gen_batches(len(x), 1024)  # The whole map might not fit into memory.
        return np.concatenate([self.map_(x[b]) @ self.coef_ for b in batches]) + self.intercept_

    def predict(self, X: ArrayLike) -> np.ndarray:  # noqa: N803
        """Returns the decision of smallest estimated cost, the first on ties, integers `(N,)`."""
        return self.predict_costs(X).argmin(axis=1)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> float:  # noqa: N803
        """Returns the negative average cost of the decisions, weighted by `sample_weight`."""
        decisions, costs = self.predict(X), self._costs(y)
        check_rows("y", costs, len(decisions), "rows of `X`")
        paid = np.take_along_axis(costs, decisions[:, None], axis=1)[:, 0]
        return -float(np.average(paid, weights=sample_weight))

    def save(self, path: str | os.PathLike) -> None:
        """Writes the fitted estimator to an .npz file without pickles."""
        write_arrays(pathlib.Path(path), self.to_record())

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Returns the estimator that `save` wrote; any other file raises a ValueError."""
        return cls.from_record(read_arrays(pathlib.Path(path))[0])

    def to_record(self) -> dict[str, Any]:
        """Returns the fitted estimator as a dict of arrays and values for JSON."""
        check_is_fitted(self)
        fitted, kernel_map = _fitted(self), vars(self.map_).copy()
        del fitted["map_"]
        nystroem = kernel_map.pop("nystroem")
        return {
            "kind": "CSOSR",
            "arguments": self.get_params(),
            "fitted": fitted,
            "map": kernel_map,
            "nystroem": None if nystroem is None else _fitted(nystroem),
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Returns the estimator from a record of `to_record`."""
        if record.get("kind") != "CSOSR" or record["map"].get("kernel") == "precomputed":
            raise ValueError("The file does not contain a CSOSR with a Gaussian kernel.")
        machine, kernel_map = cls(**record["arguments"]), KernelMap(**record["map"])
        if record["nystroem"] is not None:
            kernel_map.nystroem = Nystroem(gamma=kernel_map.gamma)
            vars(kernel_map.nystroem).update(record["nystroem"])
        for name, value in {**record["fitted"], "map_": kernel_map}.items():
            setattr(machine, name, value)
        return machine

    def _costs(self, y: ArrayLike) -> np.ndarray:
        if self.cost_matrix is not None:
            return cost_vectors(check_cost_matrix(self.cost_matrix), y)
        return check_cost_vectors(y, binary_costs=self.binary_costs)


def _fitted(estimator: BaseEstimator) -> dict[str, Any]:
    return {name: it for name, it in vars(estimator).items() if name.endswith("_")}


@dataclasses.dataclass
class KernelMap:
    """Maps examples to Gaussian kernel values with training examples, or to Nyström features."""

    gamma: float
    x_fit: np.ndarray | None = None
    nystroem: Nystroem | None = None

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Maps `(M, features)` to kernel values `(M, N)` or features `(M, n_components)`."""
        if self.nystroem is not None:
            return self.nystroem.transform(x.astype(np.float64))
        return rbf_kernel(x, self.x_fit, gamma=self.gamma)
