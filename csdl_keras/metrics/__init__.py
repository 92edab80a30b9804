"""Metrics of the costs of decisions."""

from csdl_keras.metrics.decision_metrics import (
    AverageCost,
    DecisionAccuracy,
    NormalizedCost,
    Savings,
)

__all__ = ["AverageCost", "DecisionAccuracy", "NormalizedCost", "Savings"]
