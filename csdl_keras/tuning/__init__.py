"""Hyperparameter search with KerasTuner: HyperModels of the algorithms, and resumable tuners."""

from csdl_keras_cli.optional import optional_module

# This precedes the imports, so that the error names the command that installs KerasTuner.
optional_module("keras_tuner")

from csdl_keras.tuning.hyper_models import CNNHyperModel, CSDNNHyperModel, Range
from csdl_keras.tuning.resumable import BayesianOptimization, GridSearch, RandomSearch

__all__ = [
    "BayesianOptimization",
    "CNNHyperModel",
    "CSDNNHyperModel",
    "GridSearch",
    "RandomSearch",
    "Range",
]
