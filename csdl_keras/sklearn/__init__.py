"""Cost-sensitive estimator and scorer for scikit-learn."""

from csdl_keras._utils.optional import optional_module

# Before the imports, so that the error names the command that installs scikit-learn.
optional_module("sklearn", "compare")

from csdl_keras.sklearn.average_cost_scorer import average_cost_scorer
from csdl_keras.sklearn.cost_sensitive_classifier import CostSensitiveClassifier

__all__ = ["CostSensitiveClassifier", "average_cost_scorer"]
