"""Networks to train, and models that decide; each function returns a `keras.Model`."""

from csdl_keras.models.auxiliary_costs import AuxiliaryCostModel, auxiliary_costs
from csdl_keras.models.caffe_cifar10 import caffe_cifar10
from csdl_keras.models.convnet import convnet
from csdl_keras.models.expected_cost_model import (
    ExpectedCostModel,
    expected_cost_model,
    labelled_costs,
)
from csdl_keras.models.mlp import mlp
from csdl_keras.models.tabular import tabular
from csdl_keras.prediction import (
    BayesModel,
    bayes_classifier,
    cost_estimator,
    decision_model,
    ensemble,
    serving_model,
    view_average,
)

__all__ = [
    "AuxiliaryCostModel",
    "BayesModel",
    "ExpectedCostModel",
    "auxiliary_costs",
    "bayes_classifier",
    "caffe_cifar10",
    "convnet",
    "cost_estimator",
    "decision_model",
    "ensemble",
    "expected_cost_model",
    "labelled_costs",
    "mlp",
    "serving_model",
    "tabular",
    "view_average",
]
