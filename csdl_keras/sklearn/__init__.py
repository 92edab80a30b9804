"""Cost-sensitive estimator and scorer for scikit-learn."""

from csdl_keras.sklearn.average_cost_scorer import average_cost_scorer
from csdl_keras.sklearn.cost_sensitive_classifier import CostSensitiveClassifier

__all__ = ["CostSensitiveClassifier", "average_cost_scorer"]
