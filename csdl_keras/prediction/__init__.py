"""The third stage, prediction: from a model's outputs to decisions."""

from csdl_keras.prediction.adjust_priors import adjust_priors
from csdl_keras.prediction.bayes_classifier import BayesModel, bayes_classifier, cost_estimator
from csdl_keras.prediction.bayes_decisions import bayes_decisions
from csdl_keras.prediction.calibrate import calibrate
from csdl_keras.prediction.decide import decide
from csdl_keras.prediction.ensemble import ensemble, view_average
from csdl_keras.prediction.export import export
from csdl_keras.prediction.serving import decision_model, serving_model

__all__ = [
    "BayesModel",
    "adjust_priors",
    "bayes_classifier",
    "bayes_decisions",
    "calibrate",
    "cost_estimator",
    "decide",
    "decision_model",
    "ensemble",
    "export",
    "serving_model",
    "view_average",
]
