"""Layers: noise and auto-encoders of pre-training, cost heads, calibration, decisions, Caffe's."""

from csdl_keras.layers.bayes_decision import BayesDecision
from csdl_keras.layers.cae import CAE
from csdl_keras.layers.caffe import CaffePooling2D, WithinChannelLRN
from csdl_keras.layers.class_costs import ClassCosts, ExpectedCost
from csdl_keras.layers.class_probabilities import ClassProbabilities
from csdl_keras.layers.cost_output import CostOutput
from csdl_keras.layers.decision import Decision
from csdl_keras.layers.inverse_link import InverseLink
from csdl_keras.layers.masking_noise import MaskingNoise
from csdl_keras.layers.random_shift import RandomShift
from csdl_keras.layers.temperature_scaling import (
    BiasCorrectedTemperatureScaling,
    TemperatureScaling,
)

__all__ = [
    "BayesDecision",
    "BiasCorrectedTemperatureScaling",
    "CAE",
    "CaffePooling2D",
    "ClassCosts",
    "ClassProbabilities",
    "CostOutput",
    "Decision",
    "ExpectedCost",
    "InverseLink",
    "MaskingNoise",
    "RandomShift",
    "TemperatureScaling",
    "WithinChannelLRN",
]
