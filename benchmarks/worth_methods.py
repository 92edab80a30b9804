"""Networks that `worth.py` trains on one problem, and what their decisions cost."""

import functools
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from worth_search import (
    LAST,
    LAST_BEYOND,
    OCTAVES_BEYOND,
    PER_OCTAVE,
    Choice,
    Trial,
    on_edge,
    search,
    train_to_best,
    updates_at,
)
from worth_sets import Problem
from worth_training import Weights, compiled_training

import csdl_keras as csdl

SMALLEST = 1e-7


class Result(NamedTuple):
    """Decisions of one method on the test examples, and how they came about."""

    method: str
    decisions: np.ndarray
    choice: Choice
    snapshot: int
    on_edge: bool
    trials: int
    seconds: float
    beyond: int = 1
    overconfidence: float = float("nan")
    temperature: float = float("nan")
    pretraining: str = "none"


class Learner:
    """Trains networks on one problem by one loss.

    Args:
        problem: the problem.
        objective: `"nll"`, `"sosr"` or `"poisson"`.
        hidden: initial weights of the hidden layers; `None` for those of the seed.
        activation: activation of the hidden layers.
    """

    def __init__(
        self,
        problem: Problem,
        objective: str,
        hidden: Weights | None = None,
        activation: str = "relu",
    ):
        self.problem, self.objective = problem, objective
        units, name = problem.conditions.hidden_units, problem.conditions.set
        self.training = compiled_training(name, units, activation, objective)
        weights = self.training.initial_weights(problem.seed)
        self.weights = weights if hidden is None else [*hidden, *weights[len(hidden) :]]

    def snapshots(self, choice: Choice, matrix: np.ndarray | None = None) -> Iterator:
        """Yields outputs on the validation examples, and a function for those of the test."""
        problem, targets = self.problem, self.problem.y
        if self.objective != "nll":
            unit = matrix.max() if self.objective == "sosr" else matrix[matrix > 0].mean()
            scaled = matrix * (choice.cost_scale / unit)
            targets = scaled.astype("float32")[problem.y]
        found = self.training.snapshots(
            self.weights, targets, problem.train, problem.x_val, choice.learning_rate, problem.seed
        )
        for val, test in found:
            yield val[: len(problem.val)], lambda test=test: test()[problem.test]

    def score(self, val: np.ndarray, matrix: np.ndarray | None) -> float:
        """Returns the mean negative log-likelihood, or the average cost, of validation."""
        y = self.problem.y_val
        if self.objective == "nll":
            return float(-np.log(np.maximum(val[np.arange(len(y)), y], SMALLEST)).mean())
        return float(matrix[y, val.argmin(axis=1)].mean())

    def train(self, choice: Choice, matrix: np.ndarray | None = None) -> Trial:
        """Trains with a choice until its validation score stops falling."""
        score = functools.partial(self.score, matrix=matrix)
        return train_to_best(self.snapshots(choice, matrix), score, LAST)

    def beyond(self, choice: Choice, best: int, matrix: np.ndarray | None = None) -> Iterator:
        """Trains on; yields multiples of the best number of updates and the outputs there."""
        for number, (val, test) in enumerate(self.snapshots(choice, matrix)):
            octaves, rest = divmod(number - best, PER_OCTAVE)
            if octaves > 0 and rest == 0:
                yield 2**octaves, val, test()
            if number >= min(LAST_BEYOND, best + OCTAVES_BEYOND * PER_OCTAVE):
                return


def by_costs(
    learners: Sequence[Learner], name: str, matrices: Sequence[np.ndarray], beyond: bool
) -> Iterator[tuple[int, Result]]:
    """Yields the matrix's number and decisions of networks that are trained on costs.

    Args:
        learners: what trains for each matrix.
        name: name of the method.
        matrices: the cost matrices, each of which has a search of its own.
        beyond: whether training goes on beyond the best snapshot.
    """
    scaled = learners[0].objective == "sosr"
    for number, (learner, matrix) in enumerate(zip(learners, matrices, strict=True)):
        start = time.perf_counter()
        trials = search(functools.partial(learner.train, matrix=matrix), scaled)
        choice = next(iter(trials))
        best = trials[choice].best
        rest = (choice, best.number, on_edge(choice, trials, scaled), len(trials))
        rest = (*rest, time.perf_counter() - start)
        yield number, Result(name, best.test().argmin(axis=1), *rest)
        for times, _, test in learner.beyond(choice, best.number, matrix) if beyond else ():
            yield number, Result(name, test.argmin(axis=1), *rest, times)


def columns(result: Result, problem: Problem, matrix: np.ndarray) -> dict[str, object]:
    """Returns the columns of a result."""
    decided, y = result.decisions, problem.y_test
    paid = csdl.evaluation.average_cost(y, decided, matrix)
    constant = float(matrix[y].mean(axis=0).min())
    error = float(np.mean(decided != y))
    return {
        "pretraining": result.pretraining,
        "method": result.method,
        "beyond": result.beyond,
        "average_cost": f"{paid:.6g}",
        "clean_cost": f"{csdl.evaluation.average_cost(problem.y_test_clean, decided, matrix):.6g}",
        "constant_cost": f"{constant:.6g}",
        "error_rate": f"{error:.4f}",
        "collapsed": int(len(np.unique(decided)) == 1 or paid >= constant),
        "learning_rate": f"{result.choice.learning_rate:.3g}",
        "cost_scale": f"{result.choice.cost_scale:.4g}",
        "on_edge": int(result.on_edge),
        "updates": updates_at(result.snapshot),
        "at_limit": int(result.snapshot == LAST),
        "trials": result.trials,
        "overconfidence": f"{result.overconfidence:.4f}",
        "temperature": f"{result.temperature:.4g}",
        "seconds": f"{result.seconds:.2f}",
    }
