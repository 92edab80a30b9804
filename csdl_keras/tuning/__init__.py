"""Searches with KerasTuner: spaces of what algorithms choose, and tuners that can be resumed."""

from csdl_keras.tuning.bayesian_optimization import BayesianOptimization
from csdl_keras.tuning.cnn_hyper_model import CNNHyperModel
from csdl_keras.tuning.csdnn_hyper_model import CSDNNHyperModel
from csdl_keras.tuning.decision_hyper_model import DecisionHyperModel
from csdl_keras.tuning.grid_search import GridSearch
from csdl_keras.tuning.random_search import RandomSearch
from csdl_keras.tuning.range import Range

__all__ = [
    "BayesianOptimization",
    "CNNHyperModel",
    "CSDNNHyperModel",
    "DecisionHyperModel",
    "GridSearch",
    "RandomSearch",
    "Range",
]
