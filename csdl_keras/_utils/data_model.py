"""The class of models that know their data: columns, labels of classes, the unit of costs."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.structure import encoded_rows, frame_columns, inputs_of


@keras.saving.register_keras_serializable(package="csdl_keras")
class DataModel(keras.Model):
    """Functional model that takes data frames and knows its classes and the unit of its costs.

    `predict`, `evaluate` and `fit` take data frames of pandas and Polars and dicts of columns, if
    the network was built for a data frame.

    Args:
        classes: labels of the classes, strings or booleans; `None` (default) if they are integers.
            `model.classes[decisions]` are those of decisions.
        unit: the cost that an output of 1 stands for, if the outputs are costs. Defaults to 1.
        *args, **kwargs: as for `keras.Model`.
    """

    def __init__(
        self,
        *args: Any,
        classes: Sequence[Any] | np.ndarray | None = None,
        unit: float = 1.0,
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        self.unit = unit
        self.classes = None if classes is None else np.asarray(classes)  # Keras would wrap a list.

    def encode(self, x: Any) -> Any:
        """Returns rows of a data frame as numbers `(N, F)`, NaN where missing or unknown."""
        return encoded_rows(self, x)

    def predict(self, x: Any, *args: Any, **kwargs: Any) -> np.ndarray:
        """Returns the outputs, as `keras.Model.predict`, also for data frames."""
        return super().predict(self.encode(x), *args, **kwargs)

    def evaluate(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Returns loss and metrics, as `keras.Model.evaluate`, also for data frames."""
        return super().evaluate(self.encode(x), *args, **kwargs)

    def fit(self, x: Any = None, *args: Any, validation_data: Any = None, **kwargs: Any) -> Any:
        """Trains the model, as `keras.Model.fit`, also on data frames."""
        if isinstance(validation_data, (tuple, list)):
            validation_data = (self.encode(validation_data[0]), *validation_data[1:])
        return super().fit(self.encode(x), *args, validation_data=validation_data, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """Returns the config, with the classes and the unit where they are not the default."""
        classes = {} if self.classes is None else {"classes": self.classes.tolist()}
        unit = {} if self.unit == 1 else {"unit": self.unit}
        return {**super().get_config(), **classes, **unit}


def with_data(
    model: keras.Model, *sources: keras.Model, classes: Any = None, unit: float | None = None
) -> Any:
    """Returns a functional model with the classes and unit of `sources`, which must agree."""
    known = [_data_of(source) for source in sources] or [_data_of(model)]
    for name, first in known[0].items():
        if any(one[name] != first for one in known):
            raise ValueError(
                f"Expected members with the same {name}; received {[one[name] for one in known]}. "
                "Train all of them on the same labels, columns and costs."
            )
    classes = known[0]["classes"] if classes is None else classes
    unit = known[0]["unit of costs"] if unit is None else unit
    if not isinstance(model, DataModel):
        if classes is None and unit == 1 and frame_columns(model) is None:
            return model
        model = DataModel(inputs_of(model), model.output, name=model.name)
    model.classes, model.unit = None if classes is None else np.asarray(classes), unit
    return model


def _data_of(model: keras.Model) -> dict[str, Any]:
    """Returns what models must have in common if one is made of them."""
    classes = getattr(model, "classes", None)
    return {
        "classes": None if classes is None else classes.tolist(),
        "columns": frame_columns(model),
        "unit of costs": getattr(model, "unit", 1.0),
    }
