"""Metrics of what decisions cost."""

from csdl_keras.metrics.average_cost import AverageCost
from csdl_keras.metrics.decision_accuracy import DecisionAccuracy
from csdl_keras.metrics.normalized_cost import NormalizedCost, Savings

__all__ = ["AverageCost", "DecisionAccuracy", "NormalizedCost", "Savings"]
