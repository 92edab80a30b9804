"""Pre-trainings that `worth.py` compares when labels are few."""

import time
from collections.abc import Iterator

import keras
import numpy as np
from worth_comparisons import BY_LIKELIHOOD, WAYS, WITH_SOSR
from worth_methods import Learner, Result, by_costs
from worth_probabilities import Probabilities
from worth_sets import Problem
from worth_training import Weights

import csdl_keras as csdl

#: Least number of examples in an epoch: small sets are repeated, or epochs would be too short.
EPOCH, EPOCHS, BATCH_SIZE = 6_000, 15, 100
BETA = 0.25


def pretrained(
    problem: Problem, way: str, matrix: np.ndarray, unlabelled: np.ndarray | None
) -> Weights:
    """Returns weights of the hidden layers after `csdl.pretrain`.

    Args:
        problem: the problem.
        way: `"DAE"`, `"SEAE"` or `"CAE"`.
        matrix: the costs that a CAE sees.
        unlabelled: further inputs without labels, or `None`.
    """
    units, data = problem.conditions.hidden_units, problem.data
    model = csdl.models.mlp(
        (data.x.shape[1],), problem.num_classes, units, "sigmoid", "cost", seed=problem.seed
    )
    rows = problem.train
    size = len(rows) + (0 if unlabelled is None else len(unlabelled))
    repeated = -(-EPOCH // size)
    costs = matrix if way == "CAE" else csdl.costs.zero_one(problem.num_classes)
    csdl.pretrain(
        model,
        np.tile(data.x[rows], (repeated, 1)),
        None if way == "DAE" else np.tile(problem.y[rows], repeated),
        beta=0.0 if way == "DAE" else BETA,
        cost_matrix=None if way == "DAE" else costs,
        cost_scale=1.0 / costs.max(),
        epochs=max(1, round(EPOCHS * EPOCH / (size * repeated))),
        batch_size=BATCH_SIZE,
        seed=problem.seed,
        unlabelled=None if unlabelled is None else np.tile(unlabelled, (repeated, 1)),
        verbose=0,
    )
    weights = model.get_weights()[: 2 * len(units)]
    keras.backend.clear_session()
    return weights


def pretraining_results(
    problem: Problem, matrices: list[np.ndarray]
) -> Iterator[tuple[int, Result]]:
    """Yields the matrix's number and results after each pre-training, by calibrated Bayes and SOSR.

    A CAE is pre-trained for each matrix, the others serve all. Few validation examples say little
    about costs, so calibrated Bayes takes the network that is likeliest in validation.
    """
    others = np.setdiff1d(np.arange(len(problem.data.x)), problem.train)
    for way in WAYS:
        kind, _, inputs = way.partition(" on ")
        unlabelled = problem.data.x[others] if inputs else None
        hidden, seconds = [], []
        for matrix in matrices if kind == "CAE" else matrices[:1]:
            start = time.perf_counter()
            hidden.append(None if way == "none" else pretrained(problem, kind, matrix, unlabelled))
            seconds.append(time.perf_counter() - start)
        found = []
        for index, weights in enumerate(hidden):
            numbers = [index] if kind == "CAE" else range(len(matrices))
            networks = Probabilities(Learner(problem, "nll", weights, "sigmoid"))
            own = [matrices[number] for number in numbers]
            found += [
                (numbers[place], it._replace(seconds=it.seconds + seconds[index]))
                for place, it in networks.results(own, (BY_LIKELIHOOD,))
            ]
        if way in WITH_SOSR:
            # One network of hidden layers, or one for each matrix.
            several = hidden if kind == "CAE" else hidden * len(matrices)
            learners = [Learner(problem, "sosr", weights, "sigmoid") for weights in several]
            found += by_costs(learners, "SOSR", matrices, beyond=False)
        for number, result in found:
            yield number, result._replace(pretraining=way)
