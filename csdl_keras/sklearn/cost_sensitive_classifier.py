"""A scikit-learn estimator that trains the algorithms of this package."""

from collections.abc import Sequence
from typing import Any, Self

import keras
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from csdl_keras._utils.arrays import check_example_shape
from csdl_keras._utils.checks import check_number
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.labels import label_array
from csdl_keras._utils.types import ArrayLike, Verbose
from csdl_keras.costs.known import CostsLike, KnownCosts, vectors_of_labels
from csdl_keras.prediction.bayes_classifier import probability_model
from csdl_keras.prediction.decide import decide
from csdl_keras.prediction.kind import output_kind
from csdl_keras.sklearn._cost_decisions import CostDecisions, check_not_one_hot
from csdl_keras.training.algorithms import Algorithm, get_algorithm
from csdl_keras.training.data import HELD_OUT, validation_split
from csdl_keras.training.own_network import Network
from csdl_keras.training.settings import Settings, check_settings
from csdl_keras.training.train import Trainer
from csdl_keras_cli.columns import as_table

_NEED_PROBABILITIES = (
    "The algorithm estimates costs directly, so it does not support costs known when deciding, of "
    "shape (K, D) or (N, K, D). Use one such as 'calibrated_bayes', or pass the labels' cost "
    "vectors (N, D) to `fit`, `csdl_keras.costs.cost_vectors(costs, labels)`."
)


def _has_probabilities(algorithm: str | Algorithm) -> bool:
    found = get_algorithm(algorithm)
    return found.output == "probability" or found.objective.calibrates


def _fitted_inputs(estimator: BaseEstimator, X: Any, y: ArrayLike) -> tuple[Any, np.ndarray]:  # noqa: N803
    """Returns inputs and labels; data frames with categories or missing values become a `Table`."""
    table = as_table(X)
    if table is None or not (table.columns.categorical or np.isnan(table.rows).any()):
        return validate_data(estimator, X, y, dtype="float32", allow_nd=True)
    validate_data(estimator, X, skip_check_array=True)  # This checks names and number of columns.
    labels = column_or_1d(y)
    check_consistent_length(table.rows, labels)
    return table, label_array("y", labels)


def _predicts_probabilities(estimator: "CostSensitiveClassifier") -> bool:
    if hasattr(estimator, "model_"):
        return estimator.probability_model_ is not None
    return _has_probabilities(estimator.algorithm)


class CostSensitiveClassifier(CostDecisions):
    """Trains an algorithm of this package, or your own network, for low-cost decisions.

    `fit` holds out a stratified part of the examples for early stopping and calibration, unless
    there are too few.

    Args:
        algorithm: a name in `csdl_keras.ALGORITHMS`, or an `Algorithm`. Defaults to
            `"calibrated_bayes"`.
        cost_matrix: `(K, D)`, `C[true, decision]`, in the order of `classes_`,
            which is that of `numpy.unique(y)`, or a pandas data frame with rows and columns
            named after the classes. `None` (default) is 0/1 costs, unless `fit` gets costs.
        settings: a `csdl_keras.Settings`; `None` (default) is `Settings()`.
        validation_fraction: share of the examples held out, in [0, 0.99]; `None` (default)
            is 0.15, or 0 for ensembles with calibrated probabilities, whose networks each hold
            out a different fold.
        random_state: an integer seeds `csdl_keras.train` and the split; a
            `numpy.random.RandomState` draws both seeds; `None` (default) follows
            `keras.utils.set_random_seed`.
        other_decisions: labels of decisions other than classes, such as
            `["abstain"]` with `csdl_keras.costs.with_abstain`. By default (`None`) they
            are the next numbers above the highest class if classes are numbers,
            and otherwise `"decision_K"`, ...
        verbose: as in `keras.Model.fit`. Defaults to 0.
        network, effort: see `csdl_keras.train`. `None` by default.

    Attributes:
        classes_: `(K,)` the labels, sorted.
        decisions_: `(D,)` the label that `predict` returns for each column of costs.
        cost_matrix_: `(K, D)`; if examples have their own costs, their mean.
        model_: the trained model, for `csdl_keras.decide` and `model_.save`. If `fit` got a data
            frame of numbers without missing values, its inputs are columns by position.
        probability_model_: the part of `model_` that outputs class probabilities, or `None`.
        n_features_in_: as in scikit-learn.
        feature_names_in_: as in scikit-learn.

    Raises:
        ValueError: in `fit`, before training, if an argument or array fails its check.

    Example:

    >>> import csdl_keras, numpy as np
    >>> from csdl_keras.sklearn import CostSensitiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(60, 4))
    >>> y = np.where(x[:, 0] > 0, "sick", "healthy")
    >>> settings = csdl_keras.Settings().replace({"mlp.hidden_units": (8,)}).limit_epochs(2)
    >>> model = CostSensitiveClassifier(
    ...     "dnn_bayes",
    ...     cost_matrix=[[0, 1], [100, 0]],  # missing an illness costs 100
    ...     settings=settings,
    ...     random_state=0,
    ... ).fit(x, y)
    >>> print(*model.classes_, model.predict(x).shape, model.predict_cost(x).shape)
    healthy sick (60,) (60, 2)
    """

    def __init__(
        self,
        algorithm: str | Algorithm = "calibrated_bayes",
        cost_matrix: ArrayLike | None = None,
        settings: Settings | None = None,
        validation_fraction: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        other_decisions: Sequence[object] | None = None,
        verbose: Verbose = 0,
        network: Network | None = None,
        effort: str | None = None,
    ):
        self.algorithm = algorithm
        self.cost_matrix = cost_matrix
        self.settings = settings
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.other_decisions = other_decisions
        self.verbose = verbose
        self.network = network
        self.effort = effort

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        costs: CostsLike | None = None,
    ) -> Self:
        """Trains on the examples.

        Args:
            X: inputs `(N, F)`, images `(N, height, width, channels)`, or any data frame.
            y: labels `(N,)` of any type.
            costs: costs of each example, instead of a matrix: cost vectors `(N, D)`; or, for
                algorithms that estimate class probabilities, costs known when deciding, `(N, K,
                D)` or `csdl_keras.costs.AffineCosts`. With these, pass `costs` to `predict` too,
                which otherwise decides by the mean matrix. In cross-validation, request them with
                `set_fit_request(costs=True)`.
        """
        if self.validation_fraction is not None:
            check_number("validation_fraction", self.validation_fraction, 0, 0.99)
        check_not_one_hot(y)
        x, y = _fitted_inputs(self, X, y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        known, vectors = self._set_costs(labels, costs)
        settings = Settings() if self.settings is None else check_settings(self.settings)
        generator, seed = check_random_state(self.random_state), self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(generator.randint(2**31 - 1))
        if known is not None and not _has_probabilities(self.algorithm):
            raise ValueError(_NEED_PROBABILITIES)
        found = get_algorithm(self.algorithm, self.effort)
        priced: KnownCosts | None = vectors if known is None else known
        if known is not None and not found.shares_training:
            priced = vectors_of_labels(labels, known)  # Training on costs needs vectors.
        fraction = self.validation_fraction
        if fraction is None:
            fraction = 0.0 if settings.with_members(found, x.shape).cross_fits else HELD_OUT
        kept, held_out = validation_split(labels, fraction, generator)
        arrays = (x, labels) if priced is None else (x, labels, priced)
        trainer = Trainer(
            x[kept],
            labels[kept],
            tuple(array[held_out] for array in arrays) if len(held_out) else None,
            settings=settings,
            seed=seed,
            verbose=self.verbose,
            costs=None if priced is None else priced[kept],
            network=self.network,
        )
        trained = trainer.train(found, self.cost_matrix_ if priced is None else None)
        self.model_, self._unit = trained.model, trained.unit
        named = all(isinstance(label, (str, np.bool_)) for label in self.classes_)
        if named and isinstance(self.model_, keras.Model):
            self.model_ = with_data(self.model_, classes=self.classes_)  # for `model_.save`
        self.probability_model_ = probability_model(self.model_)
        self._input_shape = x.shape[1:]
        self._columns = getattr(x, "columns", None)
        return self

    @available_if(_predicts_probabilities)
    def predict_proba(self, X: ArrayLike) -> np.ndarray:  # noqa: N803
        """Returns class probabilities `(N, K)`, unless the algorithm estimates costs directly."""
        return self._probabilities(self._check_inputs(X))

    def _check_inputs(self, X: ArrayLike) -> np.ndarray:  # noqa: N803
        check_is_fitted(self)
        if self._columns is not None:
            return self._columns.encode(X).astype("float32")
        x = validate_data(self, X, dtype="float32", allow_nd=True, reset=False)
        check_example_shape("inputs", x, self._input_shape, "as in `fit`")
        return x

    def _probabilities(self, x: np.ndarray) -> np.ndarray:
        if self.probability_model_ is None:
            raise ValueError(_NEED_PROBABILITIES)
        return self.probability_model_.predict(x, verbose=0)

    def _costs(self, x: np.ndarray, known: KnownCosts | None) -> np.ndarray:
        if known is not None:
            return super()._costs(x, known)
        if not isinstance(self.model_, keras.Model):
            return self.model_.predict_costs(x.reshape(len(x), -1)) * self._unit
        outputs = self.model_.predict(x, verbose=0).astype("float64")
        if output_kind(self.model_) == "probability":
            return outputs @ self.cost_matrix_
        return outputs * self._unit

    def _decide(self, x: np.ndarray, known: KnownCosts | None) -> np.ndarray:
        return decide(self.model_, x) if known is None else super()._decide(x, known)
