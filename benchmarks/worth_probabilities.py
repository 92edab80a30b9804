"""Decisions from probabilities that `worth.py` compares."""

import functools
import time
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import special
from worth_methods import SMALLEST, Learner, Result
from worth_search import Choice, Snapshot, on_edge, search, untried
from worth_sets import Conditions, Problem

import csdl_keras as csdl
from csdl_keras.prediction.calibrate import fit_temperature


def temperature_of(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Fits a temperature on validation examples."""
    return fit_temperature(probabilities, labels, False, None)[0]


def decide(
    method: str, probabilities: np.ndarray, temperature: float, matrix: np.ndarray
) -> np.ndarray:
    """Returns the decisions of a method from probabilities."""
    if method == "argmax":
        return probabilities.argmax(axis=1)
    if method.startswith("calibrated"):
        logs = np.log(np.maximum(probabilities, SMALLEST))
        probabilities = special.softmax(logs / temperature, axis=1)
    return (probabilities @ matrix).argmin(axis=1)


class Probabilities:
    """The networks of probabilities of one problem, which serve all cost matrices.

    The learning rate is searched by the likelihood of the validation labels. Of the snapshots of
    all trials, each decision then takes the one with the lowest average cost of its own
    validation decisions, as networks trained on costs do; that of argmax is the error rate. Among
    equals the likelihood decides. If it has a learning rate at the edge of those tried, the
    search goes on.

    Args:
        learner: what trains them.
    """

    def __init__(self, learner: Learner):
        self.learner, self.y_val = learner, learner.problem.y_val
        start = time.perf_counter()
        self.trials = search(learner.train, scaled=False)
        self.seconds = time.perf_counter() - start
        self.likeliest = next(iter(self.trials))
        self._temperatures: dict[tuple[Choice, int], float] = {}

    def temperature(self, choice: Choice, snapshot: Snapshot) -> float:
        """Returns the temperature of a snapshot."""
        key = choice, snapshot.number
        if key not in self._temperatures:
            self._temperatures[key] = temperature_of(snapshot.val, self.y_val)
        return self._temperatures[key]

    def cheapest(self, method: str, matrix: np.ndarray) -> tuple[Choice, Snapshot]:
        """Returns the choice and the snapshot that a decision takes."""
        counted = csdl.costs.zero_one(len(matrix)) if method == "argmax" else matrix

        def key(pair: tuple[Choice, Snapshot]) -> tuple[float, float]:
            temperature = self.temperature(*pair) if method.startswith("calibrated") else 1.0
            decided = decide(method, pair[1].val, temperature, matrix)
            return float(counted[self.y_val, decided].mean()), pair[1].score

        while True:
            found = ((choice, one) for choice, it in self.trials.items() for one in it.finite)
            choice, snapshot = min(found, key=key)
            new = untried(choice, self.trials, False)
            if not new:
                return choice, snapshot
            start = time.perf_counter()
            self.trials |= {one: self.learner.train(one) for one in new}
            self.seconds += time.perf_counter() - start

    def results(
        self, matrices: Sequence[np.ndarray], methods: Sequence[str], beyond: bool = False
    ) -> Iterator[tuple[int, Result]]:
        """Yields the matrix's number and the decisions of methods.

        A method whose name ends in "by likelihood" takes the likeliest snapshot. Beyond the best
        number of updates, all train on from that.
        """
        likeliest = self.likeliest, self.trials[self.likeliest].best
        for number, matrix in enumerate(matrices):
            for method in methods:
                by_likelihood = method.endswith("by likelihood")
                found = likeliest if by_likelihood else self.cheapest(method, matrix)
                test, temperature = found[1].test(), self.temperature(*found)
                yield number, self._result(method, test, temperature, matrix, *found)
        for times, val, test in (
            self.learner.beyond(likeliest[0], likeliest[1].number) if beyond else ()
        ):
            temperature = temperature_of(val, self.y_val)
            for number, matrix in enumerate(matrices):
                for method in methods:
                    found = self._result(method, test, temperature, matrix, *likeliest)
                    yield number, found._replace(beyond=times)

    def _result(
        self,
        method: str,
        test: np.ndarray,
        temperature: float,
        matrix: np.ndarray,
        choice: Choice,
        snapshot: Snapshot,
    ) -> Result:
        right = test.argmax(axis=1) == self.learner.problem.y_test
        return Result(
            method,
            decide(method, test, temperature, matrix),
            choice,
            snapshot.number,
            on_edge(choice, self.trials, False),
            len(self.trials),
            self.seconds,
            # Mean confidence minus accuracy.
            overconfidence=float((test.max(axis=1) - right).mean()),
            temperature=temperature,
        )


@functools.lru_cache(maxsize=1)
def trained_probabilities(conditions: Conditions, seed: int) -> Probabilities:
    """Returns the networks of probabilities, which kinds of costs share."""
    return Probabilities(Learner(Problem(conditions, seed), "nll"))
