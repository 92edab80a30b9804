"""Layers of cost-sensitive networks: auto-encoders, noise, costs, probabilities, decisions."""

from csdl_keras.layers.cae import CAE
from csdl_keras.layers.caffe import CaffePooling2D, WithinChannelLRN
from csdl_keras.layers.class_costs import ClassCosts, ExpectedCost
from csdl_keras.layers.cost_output import CostOutput, InverseLink
from csdl_keras.layers.decision import BayesDecision, Decision
from csdl_keras.layers.image_views import ImageViews, ViewMean
from csdl_keras.layers.members import MemberMean, MemberScaling
from csdl_keras.layers.noise import MaskingNoise, RandomShift
from csdl_keras.layers.prior_adjustment import PriorAdjustment
from csdl_keras.layers.probabilities import (
    BiasCorrectedTemperatureScaling,
    ClassProbabilities,
    TemperatureScaling,
)
from csdl_keras.layers.random_affine import RandomAffine
from csdl_keras.layers.standardized_conv import StandardizedConv2D
from csdl_keras.layers.table_encoding import TableEncoding

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
    "ImageViews",
    "InverseLink",
    "MaskingNoise",
    "MemberMean",
    "MemberScaling",
    "PriorAdjustment",
    "RandomAffine",
    "RandomShift",
    "StandardizedConv2D",
    "TableEncoding",
    "TemperatureScaling",
    "ViewMean",
    "WithinChannelLRN",
]
