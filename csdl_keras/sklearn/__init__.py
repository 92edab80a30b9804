"""Cost-sensitive learning in scikit-learn's terms: an estimator and a scorer."""

from csdl_keras._utils.optional import optional_module

# Ahead of the imports, so that the error names the command that installs scikit-learn.
optional_module("sklearn", "compare")

from csdl_keras.sklearn.average_cost_scorer import average_cost_scorer  # noqa: E402
from csdl_keras.sklearn.cost_sensitive_classifier import CostSensitiveClassifier  # noqa: E402

__all__ = ["CostSensitiveClassifier", "average_cost_scorer"]
