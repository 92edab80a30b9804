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

    These are a data frame or a dict of columns, encoded rows, or images. Costs known when deciding
    are `(N, K, D)`, or `None` to compute them from columns of the rows.
    """

    #: A fitted `BayesClassifier`, or `CSOSR`, of encoded rows, whose labels are numbers.
    classifier: Any = dataclasses.field(repr=False)
    #: `"Bayes"` decides by the lowest expected cost, `"argmax"` by the most likely class, and a
    #: number is that decision, always.
    rule: str | int
    #: The labels in the order of their numbers.
    classes: tuple[Any, ...]
    #: Names of all decisions, those of labels first.
    decisions: tuple[str, ...]
    #: The columns of a table, or `None` for images and other arrays.
    columns: Columns | None = None
    #: What decisions cost by columns that are known when deciding.
    known_costs: Expressions | None = None
    #: The shape of an image or other array, or `None` for tables.
    input_shape: tuple[int, ...] | None = None
    #: What a cost of 1 that the classifier estimates stands for.
    scale: float = 1.0

    @property
    def labels(self) -> list[Any]:
        """The labels as they are, and the names of decisions that are no class."""
        return [*self.classes[: len(self.decisions)], *self.decisions[len(self.classes) :]]

    def predict_cost(self, x: Any, costs: Any = None) -> np.ndarray:
        """Returns the expected cost of each decision, `(N, D)`."""
        if hasattr(self.classifier, "predict_costs"):
            return self.scale * self.classifier.predict_costs(self._rows(x))
        if costs is None and self.known_costs is not None:
            costs = cost_matrices(self.known_costs, x)
        return self.classifier.predict_cost(self._rows(x), costs)

    def decide(self, x: Any, costs: Any = None) -> np.ndarray:
        """Returns the number of the decision on each example."""
        if self.rule == "Bayes":
            return self.predict_cost(x, costs).argmin(axis=1)
        if self.rule == "argmax":
            return self.classifier.predict_proba(self._rows(x)).argmax(axis=1)
        return np.full(len(self._rows(x)), self.rule)

    def predict(self, x: Any, costs: Any = None) -> np.ndarray:
        """Returns the name of the decision on each example."""
        return np.array(self.labels)[self.decide(x, costs)]

    def _rows(self, x: Any) -> np.ndarray:
        if self.columns is not None and (is_frame(x) or isinstance(x, dict)):
            x = self.columns.encode(x)
        return np.reshape(x, (len(x), -1))


def save_best(model: Any, folder: pathlib.Path) -> pathlib.Path:
    """Writes a model to the only file `best_model` of a folder, .keras or .joblib; returns it."""
    of_sklearn = isinstance(model, SavedClassifier)
    path, other = folder / "best_model.keras", folder / "best_model.joblib"
    if of_sklearn:
        path, other = other, path
    with replacing(path) as unfinished:
        joblib.dump(model, unfinished) if of_sklearn else model.save(unfinished)
    other.unlink(missing_ok=True)
    return path
