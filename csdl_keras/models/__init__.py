"""Builds networks to train, and models that decide; each function returns a `keras.Model`."""

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
from csdl_keras.prediction.bayes_classifier import BayesModel, bayes_classifier, cost_estimator
from csdl_keras.prediction.ensemble import ensemble, view_average
from csdl_keras.prediction.serving import decision_model, serving_model

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
