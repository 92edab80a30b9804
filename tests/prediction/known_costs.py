"""Inputs of 30 examples of three classes, and costs of four decisions that are known for each."""

import numpy as np
from keras import layers

from csdl_keras.costs import AffineCosts
from tests.support.small_models import inputs

X = inputs(30)
RNG = np.random.default_rng(0)
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
COSTS = RNG.uniform(0, 9, size=(30, 3, 4))
PRICES = np.array([[0.0, 3.0, 1.0, 0.5], [1.0, 0.0, 6.0, 0.5], [2.0, 2.0, 0.0, 0.1]])
AFFINE = AffineCosts(RNG.uniform(1, 9, size=30), PRICES, PRICES[::-1])


def softmax():
    return layers.Dense(3, "softmax")
