"""Draws the cost matrices of the benchmarks, and computes the costs of decisions."""

import numpy as np

import csdl_keras as csdl

FIRST_COST_SEED = 1000


def cost_matrix(data: csdl.datasets.DataSet, number: int) -> np.ndarray:
    """Returns the matrix of that number for a data set, `randomized_proportional`."""
    return csdl.costs.randomized_proportional(
        data.y_train_val, data.num_classes, seed=FIRST_COST_SEED + number
    )


def cost_matrices(data: csdl.datasets.DataSet, count: int) -> list[np.ndarray]:
    """Returns the first matrices for a data set."""
    return [cost_matrix(data, number) for number in range(count)]


def bayes_cost(y: np.ndarray, found: np.ndarray, costs: np.ndarray) -> float:
    """Returns the average cost of Bayes decisions from class probabilities."""
    return csdl.evaluation.average_cost(y, csdl.bayes_decisions(found, costs), costs)
