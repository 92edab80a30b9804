"""Models that describe their data: columns, class labels and the unit of costs."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.structure import encoded_rows, frame_columns, inputs_of

#: Attributes that describe a model's data, and their defaults. A layer stores its columns.
_UNKNOWN = {"classes": None, "unit": 1.0, "decisions": None, "known_costs": None}


@keras.saving.register_keras_serializable(package="csdl_keras")
class DataModel(keras.Model):
    """Functional model that accepts data frames and stores its classes and the unit of its costs.

    `predict`, `evaluate` and `fit` accept data frames of pandas and Polars and dicts of columns if
    the network was built for a data frame.

    Args:
        classes: labels of the classes, strings or booleans; `None` (default) if they are integers.
            `model.classes[decisions]` are the labels of decisions.
        unit: the cost that an output of 1 represents, if the outputs are costs. Defaults to 1.
        decisions: names of all decisions, if some are not classes; `None` (default) otherwise.
        known_costs: `[true][decision]`, formulas that compute costs from columns known when
            deciding, such as `"5 + 0.1*amount"`; `None` (default) for costs in the model.
        *args, **kwargs: as for `keras.Model`.
    """

    def __init__(
        self,
        *args: Any,
        classes: Sequence[Any] | np.ndarray | None = None,
        unit: float = 1.0,
        decisions: Sequence[str] | None = None,
        known_costs: Sequence[Sequence[str]] | None = None,
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        self.set_data(classes, unit, decisions, known_costs)

    def set_data(self, classes: Any, unit: float, decisions: Any, known_costs: Any) -> None:
        self.unit = unit
        # Keras would wrap lists in its own containers.
        self.classes = None if classes is None else np.asarray(classes)
        self.decisions = None if decisions is None else tuple(decisions)
        self.known_costs = None if known_costs is None else tuple(map(tuple, known_costs))

    def encode(self, x: Any) -> Any:
        """Returns rows of a data frame as numbers `(N, F)`, NaN where missing or unknown."""
        return encoded_rows(self, x)

    def predict(self, x: Any, *args: Any, **kwargs: Any) -> np.ndarray:
        return super().predict(self.encode(x), *args, **kwargs)

    def evaluate(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        return super().evaluate(self.encode(x), *args, **kwargs)

    def fit(self, x: Any = None, *args: Any, validation_data: Any = None, **kwargs: Any) -> Any:
        if isinstance(validation_data, (tuple, list)):
            validation_data = (self.encode(validation_data[0]), *validation_data[1:])
        return super().fit(self.encode(x), *args, validation_data=validation_data, **kwargs)

    def get_config(self) -> dict[str, Any]:
        found = data_of(self)
        known = {name: found[name] for name in _UNKNOWN if found[name] != _UNKNOWN[name]}
        return super().get_config() | known


def with_data(model: keras.Model, *sources: keras.Model, **known: Any) -> Any:
    """Returns a functional model with the data of `sources`, which must agree, and `known`."""
    first, *others = [data_of(source) for source in sources or (model,)]
    for name, value in first.items():
        if any(one[name] != value for one in others):
            received = [one[name] for one in (first, *others)]
            raise ValueError(
                f"The members differ in their {name.replace('_', ' ')}: {received}. "
                "Train all of them on the same labels, columns and costs."
            )
    found = first | {k: np.asarray(it).tolist() for k, it in known.items() if it is not None}
    del found["columns"]
    if isinstance(model, DataModel):
        model.set_data(**found)
    elif found != _UNKNOWN or frame_columns(model) is not None:
        return DataModel(inputs_of(model), model.output, name=model.name, **found)
    return model


def data_of(model: keras.Model) -> dict[str, Any]:
    """Returns what models must have in common to become parts of one model."""
    found = {name: getattr(model, name, default) for name, default in _UNKNOWN.items()}
    listed = {name: np.asarray(value).tolist() for name, value in found.items()}
    return {**listed, "columns": frame_columns(model)}
