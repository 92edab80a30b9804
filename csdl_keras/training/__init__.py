"""Training, the paper's second stage, and algorithms from end to end.

An `Algorithm` names a body, a pre-training and an objective, or has objects of your own
in their place: a `Body`, a `Pretraining`, an `Objective`.
"""

from csdl_keras.training.algorithm import Algorithm
from csdl_keras.training.algorithms import ALGORITHMS, PAPER_ALGORITHMS
from csdl_keras.training.bodies import BODIES, MLP, AutoNetwork, CaffeCNN, KernelMachine
from csdl_keras.training.body import Body
from csdl_keras.training.effort import EFFORTS, Effort
from csdl_keras.training.objective import Objective
from csdl_keras.training.objectives import OBJECTIVES
from csdl_keras.training.pretrainings import PRETRAININGS, AutoEncoders, Pretraining
from csdl_keras.training.settings import Settings
from csdl_keras.training.train import train
from csdl_keras.training.trainer import Trainer
from csdl_keras.training.validation_cost import ValidationCost

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "AutoEncoders",
    "AutoNetwork",
    "BODIES",
    "Body",
    "CaffeCNN",
    "EFFORTS",
    "Effort",
    "KernelMachine",
    "MLP",
    "OBJECTIVES",
    "Objective",
    "PAPER_ALGORITHMS",
    "PRETRAININGS",
    "Pretraining",
    "Settings",
    "Trainer",
    "ValidationCost",
    "train",
]
