"""Cost-sensitive estimators and a scorer for scikit-learn."""

from csdl_keras.sklearn.average_cost_scorer import average_cost_scorer
from csdl_keras.sklearn.bayes_classifier import BayesClassifier
from csdl_keras.sklearn.cost_sensitive_classifier import CostSensitiveClassifier

__all__ = ["BayesClassifier", "CostSensitiveClassifier", "average_cost_scorer"]
