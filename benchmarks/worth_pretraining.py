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


def pretraining_results(problem: Problem, matrix: np.ndarray) -> Iterator[Result]:
    """Yields results after each pre-training, by calibrated Bayes and by SOSR.

    Few validation examples say little about costs, so calibrated Bayes takes the network that is
    likeliest in validation.
    """
    others = np.setdiff1d(np.arange(len(problem.data.x)), problem.train)
    for way in WAYS:
        kind, _, inputs = way.partition(" on ")
        unlabelled = problem.data.x[others] if inputs else None
        start = time.perf_counter()
        hidden = None if way == "none" else pretrained(problem, kind, matrix, unlabelled)
        seconds = time.perf_counter() - start
        networks = Probabilities(Learner(problem, "nll", hidden, "sigmoid"))
        found = [*networks.results([matrix], (BY_LIKELIHOOD,))]
        if way in WITH_SOSR:
            learner = Learner(problem, "sosr", hidden, "sigmoid")
            found += by_costs([learner], "SOSR", [matrix], beyond=False)
        for _, result in found:
            yield result._replace(pretraining=way, seconds=result.seconds + seconds)
