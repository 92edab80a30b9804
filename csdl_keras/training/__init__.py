"""Trains algorithms from end to end."""

from csdl_keras.training.algorithms import ALGORITHMS, PAPER_ALGORITHMS, Algorithm
from csdl_keras.training.bodies import (
    BODIES,
    EFFORTS,
    MLP,
    AutoNetwork,
    Body,
    CaffeCNN,
    Effort,
    KernelMachine,
)
from csdl_keras.training.objectives import OBJECTIVES, Objective
from csdl_keras.training.pretrainings import PRETRAININGS, AutoEncoders, Pretraining
from csdl_keras.training.settings import Settings
from csdl_keras.training.train import Trainer, train

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
    "train",
]
