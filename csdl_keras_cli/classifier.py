"""A scikit-learn classifier that can be saved with its labels, columns and costs."""

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
    """A scikit-learn classifier that decides for raw rows, as saved by `csdl-keras compare`.

    Its methods accept a data frame, a dict of columns, encoded rows or images.
    """

    #: A fitted `BayesClassifier`, or `CSOSR`, of encoded rows, whose labels are numbers.
    classifier: Any = dataclasses.field(repr=False)
    #: `"Bayes"` for the lowest expected cost, `"argmax"` for the most likely class, or the number
    #: of a constant decision.
    rule: str | int
    #: The labels in the order of their numbers.
    classes: tuple[Any, ...]
    #: The names of all decisions, those of the labels first.
    decisions: tuple[str, ...]
    #: The columns of a table, or `None` for images and other arrays.
    columns: Columns | None = None
    #: The costs known when deciding, as expressions over columns.
    known_costs: Expressions | None = None
    #: The shape of an image or other array, or `None` for tables.
    input_shape: tuple[int, ...] | None = None
    #: The factor that turns costs estimated by the classifier into the user's unit.
    scale: float = 1.0

    @property
    def labels(self) -> list[Any]:
        """The labels, followed by the names of other decisions."""
        return [*self.classes[: len(self.decisions)], *self.decisions[len(self.classes) :]]

    def predict_cost(self, x: Any, costs: Any = None) -> np.ndarray:
        """Returns the expected cost of each decision, `(N, D)`."""
        if hasattr(self.classifier, "predict_costs"):
            return self.scale * self.classifier.predict_costs(self._rows(x))
        if costs is None and self.known_costs is not None:
            costs = cost_matrices(self.known_costs, x)
        return self.classifier.predict_cost(self._rows(x), costs)

    def decide(self, x: Any, costs: Any = None) -> np.ndarray:
        if self.rule == "Bayes":
            return self.predict_cost(x, costs).argmin(axis=1)
        if self.rule == "argmax":
            return self.classifier.predict_proba(self._rows(x)).argmax(axis=1)
        return np.full(len(self._rows(x)), self.rule)

    def predict(self, x: Any, costs: Any = None) -> np.ndarray:
        return np.array(self.labels)[self.decide(x, costs)]

    def _rows(self, x: Any) -> np.ndarray:
        if self.columns is not None and (is_frame(x) or isinstance(x, dict)):
            x = self.columns.encode(x)
        return np.reshape(x, (len(x), -1))


def save_best(model: Any, folder: pathlib.Path) -> pathlib.Path:
    """Saves a model as `best_model.keras` or `.joblib` in a folder, and removes the other file."""
    of_sklearn = isinstance(model, SavedClassifier)
    path, other = folder / "best_model.keras", folder / "best_model.joblib"
    if of_sklearn:
        path, other = other, path
    with replacing(path) as unfinished:
        joblib.dump(model, unfinished) if of_sklearn else model.save(unfinished)
    other.unlink(missing_ok=True)
    return path
