"""Type aliases that annotations of the package share."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import keras
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
else:
    # `help` and notebooks would write out all lines of the alias, which is a long union.
    ArrayLike = type("ArrayLike", (), {"__module__": "numpy.typing"})


class CostPredictor(Protocol):
    """Classifier that is not a Keras model but estimates costs, such as `baselines.CSOSR`."""

    def predict_costs(self, X: Any, /) -> np.ndarray: ...  # noqa: N803

    def save(self, path: str | os.PathLike, /) -> None: ...


#: A tensor of the backend, or a symbolic one. The backends' tensors have no class in common.
Tensor: TypeAlias = Any
#: A dtype or dtype policy, as Keras' layers, losses and metrics accept it.
DTypeLike: TypeAlias = str | keras.DTypePolicy | dict[str, Any]
#: A static shape; `None` is an unknown size.
Shape: TypeAlias = Sequence[int | None]
#: `verbose` of `keras.Model.fit`.
Verbose: TypeAlias = Literal["auto", 0, 1, 2]
#: A trained model that decides by costs or by probabilities.
Classifier: TypeAlias = keras.Model | CostPredictor
