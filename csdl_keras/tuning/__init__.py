"""Searches with KerasTuner: spaces of what algorithms choose, and tuners that can be resumed."""

from csdl_keras._utils.optional import optional_module

# Ahead of the imports, so that the error names the command that installs KerasTuner.
optional_module("keras_tuner")

from csdl_keras.tuning.cnn_hyper_model import CNNHyperModel  # noqa: E402
from csdl_keras.tuning.csdnn_hyper_model import CSDNNHyperModel  # noqa: E402
from csdl_keras.tuning.decision_hyper_model import DecisionHyperModel  # noqa: E402
from csdl_keras.tuning.space import Range  # noqa: E402
from csdl_keras.tuning.tuners import (
    BayesianOptimization,  # noqa: E402
    GridSearch,  # noqa: E402
    RandomSearch,  # noqa: E402
)

__all__ = [
    "BayesianOptimization",
    "CNNHyperModel",
    "CSDNNHyperModel",
    "DecisionHyperModel",
    "GridSearch",
    "RandomSearch",
    "Range",
]
