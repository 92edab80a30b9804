"""Layers of cost-sensitive networks."""

from csdl_keras.layers.cae import CAE
from csdl_keras.layers.caffe import CaffePooling2D, WithinChannelLRN
from csdl_keras.layers.decision import BayesDecision, Decision
from csdl_keras.layers.estimated_costs import ClassCosts, CostOutput, ExpectedCost, InverseLink
from csdl_keras.layers.images import ImageViews, RandomAffine, StandardizedConv2D, ViewMean
from csdl_keras.layers.noise import MaskingNoise, MemberMean, MemberScaling, RandomShift
from csdl_keras.layers.probabilities import (
    BiasCorrectedTemperatureScaling,
    ClassProbabilities,
    MatrixScaling,
    PriorAdjustment,
    TemperatureScaling,
)
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
    "MatrixScaling",
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
