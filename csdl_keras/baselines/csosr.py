"""Cost-sensitive one-sided support vector regression."""

import os
import pathlib
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from csdl_keras._utils.array_file import read_arrays, write_arrays
from csdl_keras._utils.arrays import as_array
from csdl_keras._utils.checks import check_integer, check_number
from csdl_keras.baselines._csosr_arrays import restore, to_arrays
from csdl_keras.baselines._kernel_map import KernelMap, check_features
from csdl_keras.baselines.one_sided_dual import solve_one_sided_dual
from csdl_keras.costs import check_cost_matrix, check_cost_vectors, cost_vectors


class CSOSR(ClassifierMixin, BaseEstimator):
    """Cost-sensitive one-sided support vector regression with a Gaussian kernel.

    Estimates the cost of each decision `k` by `r_k(x) = w_k . phi(x) + b_k` of

        min 1/2 (|w_k|^2 + b_k^2) + penalty * sum_n max(z_nk (r_k(x_n) - c_nk), 0),

    `z_nk = +1` where `c_nk` is the example's smallest cost (ties too), -1
    elsewhere, `phi(x) . phi(x') = exp(-gamma |x - x'|^2)`; decides by argmin. On a
    training example, the slacks bound what the decision costs beyond the cheapest:
    `c[argmin r] - min c <= sum_k max(z_k (r_k - c_k), 0)`. Where classes overlap the
    decision need not be the cheapest in expectation, however many examples there are.

    A scikit-learn classifier: it can be cloned, and works in `Pipeline` and
    `GridSearchCV`. Divide costs by their largest first, so that one range of
    `penalty` serves: costs `s` times as large want a penalty `s` times as large.

    Args:
        penalty: weight of the slacks, above 0 and at most 1e30. Defaults to 1.
        gamma: factor of the kernel, above 0 and at most 1e30, or `"scale"` (default), which is
            `1 / (features * X.var())`.
        cost_matrix: `None` (default): `y` holds cost vectors `(N, D)`. Array-like
            `(K, K)`, `C[true, decision]`: `y` holds integer labels `(N,)`.
        kernel: `"rbf"` (default), or `"precomputed"`: `X` is the kernel matrix,
            `(N, N)` in `fit` (symmetric, positive semidefinite) and `(M, N)` in
            `predict`, so that many penalties share one.
        method: `"exact"`; `"nystroem"`, the kernel approximated by features that
            need no N x N matrix; or `"auto"` (default), exact up to `exact_limit`.
        n_components: number of Nyström features. Defaults to 1000.
        exact_limit: highest N for which `"auto"` is exact. Defaults to 10,000,
            a kernel matrix of 400 MB for float32 `X`.
        tol: relative duality gap at which the solver stops. Defaults to 1e-3.
        max_iter: highest number of solver steps. Defaults to 5000.
        random_state: seed of the Nyström method. Defaults to 0.

    Attributes:
        coef_: `(N, D)` weights of training examples, or of Nyström features.
        intercept_: `(D,)`, `b`.
        objective_: primal objective summed over decisions.
        duality_gap_: bound on what `objective_` is above the optimum.
        n_iter_: number of steps.
        map_: the fitted map from examples to what `coef_` weighs, with its `gamma`.
        n_features_in_, classes_: as in scikit-learn; `classes_` are the decisions.

    Raises:
        ValueError: in `fit` and later, if an argument or array fails its check.

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
        cost_matrix: Any = None,
        kernel: str = "rbf",
        method: str = "auto",
        n_components: int = 1000,
        exact_limit: int = 10_000,
        tol: float = 1e-3,
        max_iter: int = 5000,
        random_state: int | None = 0,
    ):
        self.penalty = penalty
        self.gamma = gamma
        self.cost_matrix = cost_matrix
        self.kernel = kernel
        self.method = method
        self.n_components = n_components
        self.exact_limit = exact_limit
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fits to `X`, `(N, features)`, float32 or else float64, and `y`, costs or labels.

        Warns with scikit-learn's `ConvergenceWarning` if `max_iter` is too low for `tol`.
        """
        penalty = check_number("penalty", self.penalty, low=0, high=1e30, exclude_low=True)
        tol = check_number("tol", self.tol, low=0, exclude_low=True)
        max_iter = check_integer("max_iter", self.max_iter)
        x = check_features(X)
        costs = self._costs(y)
        if len(x) != len(costs):
            raise ValueError(
                f"Expected as many rows in `X` as in `y`; received {len(x)} and {len(costs)}."
            )
        self.n_features_in_ = x.shape[1]
        self.classes_ = np.arange(costs.shape[1])
        self.map_ = KernelMap(
            x,
            self.kernel,
            self.gamma,
            self.method,
            self.n_components,
            self.exact_limit,
            self.random_state,
        )
        nystroem = self.map_.nystroem is not None
        matrix = self.map_.matrix(x)

        def product(v: np.ndarray) -> np.ndarray:
            low = v.astype(matrix.dtype)
            image = matrix @ (matrix.T @ low) if nystroem else matrix @ low
            # The bias is the weight of one more feature, 1 everywhere: the kernel plus one.
            return image + v.sum(axis=0)

        solution = solve_one_sided_dual(product, costs, penalty, tol, max_iter)
        self.intercept_ = solution.coefficients.sum(axis=0)
        self.coef_ = matrix.T @ solution.coefficients if nystroem else solution.coefficients
        self.objective_, self.duality_gap_ = solution.objective, solution.gap
        self.n_iter_ = solution.n_iter
        if self.duality_gap_ > tol * self.objective_:
            warnings.warn(
                f"Expected a duality gap of at most {tol:g} times the objective; received "
                f"{self.duality_gap_ / self.objective_:.2g} after max_iter={max_iter} steps.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict_costs(self, X: Any) -> np.ndarray:  # noqa: N803
        """Estimated costs `(N, D)`, float64, in the unit of those in `fit`."""
        check_is_fitted(self)
        x = check_features(X, self.n_features_in_)
        return self.map_.times(x, self.coef_) + self.intercept_

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """The decision of the smallest estimated cost, the first on ties, `(N,)` integers."""
        return self.predict_costs(X).argmin(axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # noqa: N803
        """Minus the average cost of the decisions; `y` as in `fit`. Higher is better."""
        decisions = self.predict(X)
        costs = self._costs(y)
        if costs.shape != (len(decisions), len(self.classes_)):
            raise ValueError(
                f"Expected costs of shape {(len(decisions), len(self.classes_))}; "
                f"received {costs.shape}."
            )
        paid = costs[np.arange(len(costs)), decisions]
        return -float(np.average(paid, weights=sample_weight))

    def save(self, path: str | os.PathLike) -> None:
        """Writes the fitted estimator to an .npz file, whole or not at all, without pickles."""
        check_is_fitted(self)
        write_arrays(pathlib.Path(path), *to_arrays(self))

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """The estimator that `save` wrote; a ValueError if the file holds anything else."""
        return restore(cls(), *read_arrays(pathlib.Path(path)))

    def _costs(self, y: Any) -> np.ndarray:
        if self.cost_matrix is not None:
            return cost_vectors(check_cost_matrix(self.cost_matrix), y)
        costs = as_array("y", y, "(N, D), cost vectors")
        if costs.ndim == 1:
            raise ValueError(
                f"Expected `y` to hold cost vectors (N, D); received shape {costs.shape}. "
                "To fit integer labels, give CSOSR a `cost_matrix`."
            )
        return check_cost_vectors(costs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
