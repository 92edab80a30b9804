"""A classifier of scikit-learn with all that it needs to decide on new rows, in one file."""

import dataclasses
import pathlib
from typing import Any

import joblib
import numpy as np

from csdl_keras_cli.columns import Columns, is_frame
from csdl_keras_cli.known_costs import Expressions, cost_matrices
from csdl_keras_cli.writable import replacing


@dataclasses.dataclass(frozen=True)
class SavedClassifier:
    """What `csdl-keras compare` saves of scikit-learn by joblib: it decides on rows as they are.

    Args:
        classifier: a fitted `csdl_keras.sklearn.BayesClassifier`, or `csdl_keras.baselines.CSOSR`,
            of encoded rows, whose labels are numbers.
        rule: `"Bayes"` decides by the lowest expected cost, `"argmax"` by the most likely class,
            and a number is that decision, always.
        classes: the labels, in the order of their numbers.
        decisions: names of all decisions, those of labels first.
        columns: the columns of a table, or `None` for images and other arrays.
        known_costs: what decisions cost by columns that are known when deciding, or `None`.
        input_shape: the shape of an image or other array, or `None` for tables.
        scale: what a cost of 1 that the classifier estimates stands for. Defaults to 1.

    Example:

    >>> from sklearn.linear_model import LogisticRegression
    >>> from csdl_keras.sklearn import BayesClassifier
    >>> x, y = np.arange(20.0)[:, None], np.arange(20) > 9
    >>> bayes = BayesClassifier(LogisticRegression(), [[0, 1], [9, 0]], calibration=None)
    >>> model = SavedClassifier(bayes.fit(x, y * 1), "Bayes", ("no", "yes"), ("no", "yes"))
    >>> model.predict(x[[0, 19]])
    array(['no', 'yes'], dtype='<U3')
    """

    classifier: Any = dataclasses.field(repr=False)
    rule: str | int
    classes: tuple[Any, ...]
    decisions: tuple[str, ...]
    columns: Columns | None = None
    known_costs: Expressions | None = None
    input_shape: tuple[int, ...] | None = None
    scale: float = 1.0

    def predict_cost(self, x: Any, costs: Any = None) -> np.ndarray:
        """Returns the expected cost of each decision, `(N, D)`.

        Args:
            x: a data frame or a dict of columns, encoded rows, or images.
            costs: costs known when deciding, `(N, K, D)`; `None` (default) computes them from
                columns of `x` if the model has `known_costs`.
        """
        if hasattr(self.classifier, "predict_costs"):
            return self.scale * self.classifier.predict_costs(self._rows(x))
        return self.classifier.predict_cost(self._rows(x), self._costs(x, costs))

    def decide(self, x: Any, costs: Any = None) -> np.ndarray:
        """Returns the number of the decision for each example; arguments as in `predict_cost`."""
        if self.rule == "Bayes":
            return self.predict_cost(x, costs).argmin(axis=1)
        if self.rule == "argmax":
            return self.classifier.predict_proba(self._rows(x)).argmax(axis=1)
        return np.full(len(self._rows(x)), self.rule)

    def predict(self, x: Any, costs: Any = None) -> np.ndarray:
        """Returns the name of the decision for each example; arguments as in `predict_cost`."""
        return np.array(self.decisions)[self.decide(x, costs)]

    def _rows(self, x: Any) -> np.ndarray:
        if self.columns is not None and (is_frame(x) or isinstance(x, dict)):
            x = self.columns.encode(x)
        return np.reshape(x, (len(x), -1))

    def _costs(self, x: Any, costs: Any) -> Any:
        if costs is None and self.known_costs is not None and (is_frame(x) or isinstance(x, dict)):
            return cost_matrices(self.known_costs, x)
        return costs


def save_best(model: Any, folder: pathlib.Path) -> pathlib.Path:
    """Writes a model to the only file `best_model` of a folder, .keras or .joblib; returns it."""
    paths = {suffix: folder / f"best_model{suffix}" for suffix in (".keras", ".joblib")}
    if isinstance(model, SavedClassifier):
        path, other = paths[".joblib"], paths[".keras"]
    else:
        path, other = paths[".keras"], paths[".joblib"]
    with replacing(path) as unfinished:
        joblib.dump(model, unfinished) if path.suffix == ".joblib" else model.save(unfinished)
    other.unlink(missing_ok=True)
    return path
