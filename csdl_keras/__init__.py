"""Multiclass cost-sensitive deep learning with Keras 3.

Importing the package registers its classes with Keras, so that saved models load. It sets no seed,
chooses no backend, and imports neither TFDS nor KerasTuner. `csdl_keras.tuning` (KerasTuner),
`csdl_keras.plots` (Matplotlib), `csdl_keras.baselines` and `csdl_keras.sklearn` (scikit-learn) are
imported when they are first used.
"""

import importlib
from typing import Any

from csdl_keras import costs, datasets, evaluation, layers, losses, metrics, models, zoo
from csdl_keras._utils import __version__
from csdl_keras.fitting.cache import StageCache
from csdl_keras.fitting.fit import DivergedError, RaiseOnDivergence
from csdl_keras.fitting.resume import Resume, ShuffledBatches
from csdl_keras.layers import CAE, BayesDecision, CostOutput, MaskingNoise
from csdl_keras.losses import (
    LogisticCostLoss,
    MINLoss,
    OneSidedLoss,
    PoissonCostLoss,
    ReconstructionLoss,
    SOSRLoss,
    sosr,
)
from csdl_keras.metrics import AverageCost, DecisionAccuracy, NormalizedCost, Savings
from csdl_keras.prediction.adjust_priors import adjust_priors
from csdl_keras.prediction.bayes_classifier import bayes_classifier
from csdl_keras.prediction.bayes_decisions import bayes_decisions
from csdl_keras.prediction.budgets import Budget
from csdl_keras.prediction.calibrate import calibrate
from csdl_keras.prediction.decide import decide
from csdl_keras.prediction.export import export
from csdl_keras.prediction.guarantee import guarantee
from csdl_keras.prediction.kind import output_kind
from csdl_keras.prediction.policy import policy
from csdl_keras.prediction.serving import decision_model
from csdl_keras.pretraining.hidden_layers import hidden_layers
from csdl_keras.pretraining.pretrain import pretrain
from csdl_keras.training.algorithms import ALGORITHMS, PAPER_ALGORITHMS, Algorithm
from csdl_keras.training.settings import Settings
from csdl_keras.training.train import Trainer, train
from csdl_keras_cli.optional import check_installed

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "AverageCost",
    "BayesDecision",
    "Budget",
    "CAE",
    "CostOutput",
    "DecisionAccuracy",
    "DivergedError",
    "LogisticCostLoss",
    "MINLoss",
    "MaskingNoise",
    "NormalizedCost",
    "OneSidedLoss",
    "PAPER_ALGORITHMS",
    "PoissonCostLoss",
    "RaiseOnDivergence",
    "ReconstructionLoss",
    "Resume",
    "SOSRLoss",
    "Savings",
    "Settings",
    "ShuffledBatches",
    "StageCache",
    "Trainer",
    "__version__",
    "adjust_priors",
    "baselines",
    "bayes_classifier",
    "bayes_decisions",
    "calibrate",
    "compare",
    "costs",
    "datasets",
    "decide",
    "decision_model",
    "evaluation",
    "export",
    "guarantee",
    "hidden_layers",
    "layers",
    "losses",
    "metrics",
    "models",
    "output_kind",
    "plots",
    "policy",
    "pretrain",
    "sklearn",
    "sosr",
    "train",
    "tuning",
    "zoo",
]

_LATER = ("baselines", "plots", "sklearn", "tuning")


def __getattr__(name: str) -> Any:
    if name == "compare":
        check_installed("pandas", "compare")
        from csdl_keras_cli.comparison import compare

        return compare
    if name in _LATER:
        return importlib.import_module(f"csdl_keras.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    # Completion lists the public names only, not what this file imports.
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
