"""Training, the paper's second stage, and algorithms from end to end."""

from csdl_keras.training.algorithms import ALGORITHMS, PAPER_ALGORITHMS, Algorithm
from csdl_keras.training.settings import Settings
from csdl_keras.training.train import train
from csdl_keras.training.trainer import Trainer

__all__ = ["ALGORITHMS", "PAPER_ALGORITHMS", "Algorithm", "Settings", "Trainer", "train"]
