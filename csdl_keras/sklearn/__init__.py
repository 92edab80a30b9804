"""Cost-sensitive learning in scikit-learn's terms: an estimator and a scorer."""

from csdl_keras.sklearn.average_cost_scorer import average_cost_scorer
from csdl_keras.sklearn.cost_sensitive_classifier import CostSensitiveClassifier

__all__ = ["CostSensitiveClassifier", "average_cost_scorer"]
