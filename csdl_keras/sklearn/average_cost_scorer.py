"""A scikit-learn scorer by the average cost of decisions."""

import inspect
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import MetadataRequest

from csdl_keras._utils.arrays import call_of
from csdl_keras._utils.labels import decision_labels, positions
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_matrix
from csdl_keras.costs.known import CostsLike, expected_costs
from csdl_keras.evaluation.scores import chosen_costs
from csdl_keras.prediction.decide import decisions
from csdl_keras.sklearn._cost_decisions import true_costs
from csdl_keras_cli.columns import is_frame


class AverageCostScorer:
    """The scorer returned by `average_cost_scorer`: `scorer(estimator, X, y, costs=None)`."""

    def __init__(
        self,
        cost_matrix: ArrayLike | None = None,
        bayes: bool = False,
        other_decisions: Sequence[object] | None = None,
    ):
        if cost_matrix is not None and not is_frame(cost_matrix):
            cost_matrix = check_cost_matrix(cost_matrix, square=False)
        self.cost_matrix = cost_matrix  # A data frame is checked later, with the classes.
        self.bayes = bayes
        self.other_decisions = other_decisions
        self._request = MetadataRequest(owner=self)

    def __repr__(self) -> str:
        arguments = {"bayes": self.bayes, "other_decisions": self.other_decisions}
        return call_of(self, cost_matrix=self.cost_matrix, **arguments)

    def __call__(
        self,
        estimator: Any,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        costs: CostsLike | None = None,
    ) -> float:
        """Returns minus the average cost of the estimator's decisions."""
        # Unlike a search, its best estimator may accept costs in `predict`.
        estimator = getattr(estimator, "best_estimator_", estimator)
        classes = np.asarray(estimator.classes_)
        matrix = None
        if self.cost_matrix is not None:
            matrix = check_cost_matrix(
                self.cost_matrix, len(classes), square=False, classes=classes
            )
        vectors, known = true_costs(y, classes, matrix, costs)
        if self.bayes:
            by = matrix if known is None else known
            if by is None:
                raise ValueError(
                    "With bayes=True, a `cost_matrix` or `costs` known when deciding, (N, K, D), "
                    "are needed; received only cost vectors."
                )
            probabilities = np.asarray(estimator.predict_proba(X), "float64")
            chosen = decisions(expected_costs(probabilities, by), "cost")
        else:
            labels = decision_labels(classes, vectors.shape[1], self.other_decisions)
            given = {} if known is None or not _takes_costs(estimator) else {"costs": known}
            predicted = column_or_1d(estimator.predict(X, **given))
            chosen = positions("predictions", predicted, labels)
        return -float(chosen_costs(vectors, chosen).mean())

    def set_score_request(self, *, costs: bool | str | None) -> Self:
        """Requests the costs of each example, by `True` or by the name of the metadata."""
        self._request.score.add_request(param="costs", alias=costs)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        return self._request


def _takes_costs(classifier: Any) -> bool:
    """Returns whether `predict` (in a pipeline, that of the last step) accepts costs."""
    while isinstance(classifier, Pipeline):
        classifier = classifier[-1]
    return "costs" in inspect.signature(classifier.predict).parameters


def average_cost_scorer(
    cost_matrix: ArrayLike | None = None,
    bayes: bool = False,
    other_decisions: Sequence[object] | None = None,
) -> AverageCostScorer:
    """Returns a scorer of classifiers by minus the average cost of their decisions.

    The score is `-1/N sum_n C[y_n, d_n]`, for `scoring=` of `cross_val_score`, `GridSearchCV` and
    similar tools. Rows of the matrix are in the order of the classifier's `classes_`, which may be
    labels of any type; those of a data frame are found by their names.

    Args:
        cost_matrix: `(K, D)`, `C[true, decision]`. `None` (default) only if each example has its
            own `costs`, requested with `scorer.set_score_request(costs=True)`. Vectors `(N, D)`
            are used to score; costs known when deciding, `(N, K, D)` or
            `csdl_keras.costs.AffineCosts`, are also passed to `predict` if it accepts `costs`.
        bayes: whether to score the decisions of lowest expected cost, `argmin(predict_proba(X) @
            C)`, instead of `predict`; costs known when deciding are used if there are any.
            Defaults to False.
        other_decisions: labels that `predict` returns for decisions other than classes, if `D >
            K`; `None` (default) expects those of `CostSensitiveClassifier`.

    Returns:
        A scorer, called with `(estimator, X, y, costs=None)`.

    Raises:
        ValueError: if an argument fails its check; when called, if the matrix
            does not match the classes, or a label or prediction is unknown.

    Example:

    >>> from csdl_keras.sklearn import average_cost_scorer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> x, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> model = GaussianNB().fit(x, y)
    >>> matrix = [[0, 1], [5, 0]]  # A "no" costs 5 if "yes" is true.
    >>> [average_cost_scorer(matrix, bayes)(model, x, y) for bayes in (False, True)]
    [-1.5, -0.5]
    """
    return AverageCostScorer(cost_matrix, bayes, other_decisions)
