"""Every algorithm as an estimator of scikit-learn."""

from collections.abc import Sequence
from typing import Self

import keras
import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from csdl_keras._utils.arrays import check_example_shape
from csdl_keras._utils.checks import check_choice, check_integer, check_number, check_verbose
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.labels import check_other_decisions
from csdl_keras._utils.types import ArrayLike, Verbose
from csdl_keras.costs.known import CostsLike, KnownCosts
from csdl_keras.prediction.bayes_classifier import probability_model
from csdl_keras.prediction.decide import decide
from csdl_keras.prediction.kind import output_kind
from csdl_keras.sklearn._cost_decisions import CostDecisions
from csdl_keras.sklearn._inputs import encoded, fitted_inputs, keeps_state
from csdl_keras.sklearn._training import (
    KNOWN_NEED_PROBABILITIES,
    Builder,
    RandomState,
    has_probabilities,
    train_model,
)
from csdl_keras.training.algorithms import MOST_MEMBERS, Algorithm, get_algorithm
from csdl_keras.training.bodies import EFFORTS
from csdl_keras.training.data import Examples
from csdl_keras.training.own_network import Network
from csdl_keras.training.settings import Settings, check_settings


def _predicts_probabilities(estimator: "CostSensitiveClassifier") -> bool:
    if hasattr(estimator, "model_"):
        return estimator.probability_model_ is not None
    return has_probabilities(estimator.algorithm)


class CostSensitiveClassifier(CostDecisions):
    """Trains an algorithm of this package, or your own network, for the lowest cost.

    A scikit-learn classifier: it can be cloned, pickled, put into a `Pipeline`
    and searched with `GridSearchCV`. `fit` holds out a stratified part of the examples
    for early stopping and for the calibration of probabilities, unless there are too
    few examples. Of an ensemble with calibrated probabilities each network is trained without
    another fold of the examples instead, so that all examples serve for both.

    Your own network is the argument `network`, as in `csdl_keras.train`, trained by any
    algorithm without pre-training. A function as `algorithm` is short for a `network` with
    `"calibrated_bayes"`, or with `SOSRLoss` if it ends in `CostOutput`; if one of
    probabilities is compiled, its loss and optimizer stay. `models.mlp` is such a function.

    Args:
        algorithm: a name in `csdl_keras.ALGORITHMS`, an `Algorithm`, or a
            function that builds a network. Defaults to `"calibrated_bayes"`.
        cost_matrix: `(K, D)`, `C[true, decision]`, in the order of `classes_`,
            which is that of `numpy.unique(y)`, or a data frame of pandas with rows and columns
            named after the classes, in any order. `None` (default) is 0/1 costs, unless `fit`
            gets costs.
        settings: a `csdl_keras.Settings`; `None` (default) is `Settings()`.
        validation_fraction: share of the examples held out, in [0, 0.99]; `None` (default)
            is 0.15, or 0 for ensembles with calibrated probabilities, such as
            `"ensemble_bayes"`, of which each network is validated on another fold.
        random_state: an integer is the seed of `csdl_keras.train` and of the
            split; a `numpy.random.RandomState` draws both; `None` (default)
            follows `keras.utils.set_random_seed`.
        ensemble: number of networks whose outputs are averaged; `None` (default)
            is that of the algorithm.
        other_decisions: labels for decisions that are not a class, such as
            `["abstain"]` with `csdl_keras.costs.with_abstain`. By default (`None`) they
            are the next whole numbers above the highest class if classes are numbers,
            in a dtype that holds them, and otherwise `"decision_K"`, ... They are never
            labels of classes.
        verbose: as in `keras.Model.fit`. Defaults to 0.
        network: a network of your own that the algorithm trains, see `csdl_keras.train`; or `None`.
        effort: how long training may take, see `csdl_keras.train`. `None` by default.

    Attributes:
        classes_: `(K,)` the labels, sorted.
        decisions_: `(D,)` the label that `predict` returns for each column of costs.
        cost_matrix_: `(K, D)`; if examples have their own costs, the mean costs of each
            class, or the mean matrix of costs that are known when deciding.
        model_: the trained model, for `csdl_keras.decide` and `model_.save`. If `fit` got a data
            frame of numbers without missing values, it takes columns by position.
        probability_model_: the part of `model_` that outputs class probabilities, or
            `None`.
        n_features_in_: as in scikit-learn.
        feature_names_in_: likewise.

    Raises:
        ValueError: in `fit`, before anything is trained, if an argument or
            array fails its check.

    Example:

    >>> import csdl_keras
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(60, 4))
    >>> y = np.where(x[:, 0] > 0, "sick", "healthy")
    >>> settings = csdl_keras.Settings().replace({"mlp.hidden_units": (8,)}).limit_epochs(2)
    >>> model = CostSensitiveClassifier(
    ...     "dnn_bayes",
    ...     cost_matrix=[[0, 1], [100, 0]],  # to miss an illness costs 100
    ...     settings=settings,
    ...     random_state=0,
    ... ).fit(x, y)
    >>> print(*model.classes_, model.predict(x).shape, model.predict_cost(x).shape)
    healthy sick (60,) (60, 2)
    """

    def __init__(
        self,
        algorithm: str | Algorithm | Builder = "calibrated_bayes",
        cost_matrix: ArrayLike | None = None,
        settings: Settings | None = None,
        validation_fraction: float | None = None,
        random_state: RandomState = None,
        ensemble: int | None = None,
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
        self.ensemble = ensemble
        self.other_decisions = other_decisions
        self.verbose = verbose
        self.network = network
        self.effort = effort

    @keeps_state
    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        cost_matrix: ArrayLike | None = None,
        costs: CostsLike | None = None,
    ) -> Self:
        """Trains on the examples.

        Args:
            X: inputs `(N, F)`, images `(N, height, width, channels)`, or any data frame.
            y: labels `(N,)` of any type.
            cost_matrix: `(K, D)`, replaces that of the estimator.
            costs: costs of each example, instead of a matrix: cost vectors `(N, D)`, what
                each decision costs, if that is not known when deciding; or `(N, K, D)` or
                `csdl_keras.costs.AffineCosts`, if all but the class will be known, for
                algorithms that estimate class probabilities. `predict` then takes its own
                `costs`, and decides by the mean matrix without. In cross-validation by
                metadata routing, `set_fit_request(costs=True)`.
        """
        settings = self._check_settings()
        x, y = fitted_inputs(self, X, y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"Expected at least 2 classes in `y`; received one class, {self.classes_[0]!r}."
            )
        known, vectors = self._set_costs(labels, cost_matrix, costs)
        self.model_, self._unit = train_model(
            self.algorithm,
            Examples(x, labels, vectors, known),
            self.cost_matrix_,
            settings,
            self.validation_fraction,
            self.random_state,
            self.ensemble,
            self.verbose,
            self.network,
            self.effort,
        )
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

    def _check_settings(self) -> Settings:
        """Checks the arguments that need no data and returns the settings."""
        if not callable(self.algorithm):
            get_algorithm(self.algorithm)
        if self.validation_fraction is not None:
            check_number("validation_fraction", self.validation_fraction, 0, 0.99)
        if self.ensemble is not None:
            check_integer("ensemble", self.ensemble, high=MOST_MEMBERS)
        if self.effort is not None:
            check_choice("effort", self.effort, EFFORTS)
        if self.other_decisions is not None:
            check_other_decisions(self.other_decisions)
        check_random_state(self.random_state)
        check_verbose(self.verbose)
        return Settings() if self.settings is None else check_settings(self.settings)

    def _check_inputs(self, X: ArrayLike) -> np.ndarray:  # noqa: N803
        check_is_fitted(self)
        if self._columns is not None:
            return encoded(self._columns, X)
        x = validate_data(self, X, dtype="float32", allow_nd=True, reset=False)
        check_example_shape("inputs", x, self._input_shape, "as in `fit`")
        return x

    def _check_known(self, x: np.ndarray, costs: CostsLike | None) -> KnownCosts | None:
        if costs is not None and self.probability_model_ is None:
            raise ValueError(f"Expected class probabilities{KNOWN_NEED_PROBABILITIES}")
        return super()._check_known(x, costs)

    def _probabilities(self, x: np.ndarray) -> np.ndarray:
        assert self.probability_model_ is not None  # as checked before
        return self.probability_model_.predict(x, verbose=0)

    def _own_costs_of(self, x: np.ndarray) -> np.ndarray:
        if not isinstance(self.model_, keras.Model):
            return self.model_.predict_costs(x.reshape(len(x), -1)) * self._unit
        outputs = self.model_.predict(x, verbose=0).astype("float64")
        if output_kind(self.model_) == "probability":
            return outputs @ self.cost_matrix_
        return outputs * self._unit

    def _own_decisions(self, x: np.ndarray) -> np.ndarray:
        return decide(self.model_, x)
