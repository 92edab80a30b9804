"""Metrics of what decisions cost."""

from csdl_keras.metrics.average_cost import AverageCost, NormalizedCost, Savings
from csdl_keras.metrics.decision_accuracy import DecisionAccuracy

__all__ = ["AverageCost", "DecisionAccuracy", "NormalizedCost", "Savings"]
