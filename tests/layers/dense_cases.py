"""Layers of `contract_test` on pixels `(batch, height, width, K)`, each of which is an example."""

import numpy as np

from csdl_keras import layers

RNG = np.random.default_rng(1)
MATRIX = np.array([[0.0, 1.0, 4.0, 0.75], [9.0, 0.0, 2.0, 0.75], [0.5, 7.0, 0.0, 0.75]])
BIAS = np.array([0.5, -1.0, 2.0])
PIXELS = RNG.dirichlet(np.ones(3), (5, 2, 3)).astype("float32")
ONES, LOGITS = PIXELS[..., :1], RNG.normal(size=(5, 2, 3, 4)).astype("float32")


def normalized(powers):
    return powers / powers.sum(axis=-1, keepdims=True)


OF_PIXELS = {
    "BayesDecision, pixels": (
        lambda: layers.BayesDecision(MATRIX),
        PIXELS,
        np.array([[[p @ MATRIX for p in row] for row in image] for image in PIXELS]),
    ),
    "BiasCorrected, pixels": (
        lambda: layers.BiasCorrectedTemperatureScaling(0.25, BIAS),
        PIXELS,
        normalized(PIXELS.astype("float64") ** 4 * np.exp(BIAS)),
    ),
    "TemperatureScaling, pixels": (
        lambda: layers.TemperatureScaling(3.0),
        PIXELS,
        normalized(PIXELS.astype("float64") ** (1 / 3)),
    ),
    "ClassProbabilities, pixels": (layers.ClassProbabilities, PIXELS, PIXELS),
    "ClassProbabilities, one of pixels": (
        layers.ClassProbabilities,
        ONES,
        np.concatenate([1 - ONES, ONES], axis=-1),
    ),
    "ClassProbabilities, logits of pixels": (
        lambda: layers.ClassProbabilities(from_logits=True),
        LOGITS,
        normalized(np.exp(LOGITS)),
    ),
    "CostOutput, pixels": (lambda: layers.CostOutput(3), LOGITS, (5, 2, 3, 3)),
    "Decision, pixels": (layers.Decision, LOGITS, LOGITS.argmin(axis=-1)),
    "Decision, one of pixels": (
        lambda: layers.Decision("probability"),
        ONES,
        (ONES[..., 0] > 0.5).astype(int),
    ),
    "InverseLink, pixels": (lambda: layers.InverseLink("log", 0.25), LOGITS, 4 * np.exp(LOGITS)),
}
