"""Populations with known costs, from which `coverage.py` draws test sets."""

import dataclasses
import zlib
from collections.abc import Callable

import numpy as np

import csdl_keras as csdl

Draw = Callable[[np.random.Generator, int], tuple]


def generator(*key: object) -> np.random.Generator:
    """Returns a generator of random numbers that depends on the key alone."""
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


@dataclasses.dataclass(frozen=True)
class Case:
    """A population of labels or cost vectors, and of decisions.

    Args:
        name: name in tables.
        draw: `(rng, N)` to `(y, decisions, matrix)`, or to `(y, first, second, matrix)`.
        truth: the expected cost, or the expected difference.
    """

    name: str
    draw: Draw
    truth: float


def wrong_of(rng: np.random.Generator, labels: np.ndarray, classes: int, share: float):
    """Draws decisions that are wrong with this probability, with equal odds of other classes."""
    shift = rng.integers(1, classes, size=len(labels))
    return np.where(rng.uniform(size=len(labels)) < share, (labels + shift) % classes, labels)


def by_matrix(name: str, matrix: np.ndarray, priors: np.ndarray, share: float) -> Case:
    """Returns a case of decisions of which a share is wrong, priced by a matrix."""
    classes = len(priors)

    def draw(rng: np.random.Generator, size: int) -> tuple:
        labels = rng.choice(classes, size=size, p=priors)
        return labels, wrong_of(rng, labels, classes, share), matrix

    return Case(name, draw, float(share * priors @ matrix.sum(axis=1) / (classes - 1)))


def abstaining(matrix: np.ndarray, share: float, abstained: float, price: float) -> Case:
    """Returns a case of decisions of which some are wrong and some abstain."""
    classes = len(matrix)
    priced = csdl.costs.with_abstain(matrix, price)

    def draw(rng: np.random.Generator, size: int) -> tuple:
        labels = rng.integers(classes, size=size)
        decided = wrong_of(rng, labels, classes, share)
        return labels, np.where(rng.uniform(size=size) < abstained, classes, decided), priced

    wrong = share * matrix.sum() / classes / (classes - 1)
    name = f"K = {classes}, {share:.0%} wrong, {abstained:.0%} abstained"
    return Case(name, draw, (1 - abstained) * wrong + abstained * price)


def by_vectors(name: str, share: float, generate: Callable, mean: float) -> Case:
    """Returns a case of three decisions, a share of them wrong, with costs of each example."""

    def draw(rng: np.random.Generator, size: int) -> tuple:
        costs = generate(rng, (size, 3))
        costs[:, 0] = 0.0
        return costs, wrong_of(rng, np.zeros(size, int), 3, share), None

    return Case(name, draw, share * mean)


def exponential(rng: np.random.Generator, shape: tuple) -> np.ndarray:
    """Draws costs whose mean is 1."""
    return rng.exponential(size=shape)


def lognormal(rng: np.random.Generator, shape: tuple) -> np.ndarray:
    """Draws costs of which a few are a hundred times as large as most."""
    return rng.lognormal(0.0, 1.5, size=shape)


def off_diagonal(values: np.ndarray) -> np.ndarray:
    """Makes a cost matrix of these values."""
    np.fill_diagonal(values, 0.0)
    return values


def matrices() -> dict[str, np.ndarray]:
    """Returns the matrices of the cases."""
    rng = np.random.default_rng(0)
    counts = np.array([1000, 300, 100, 30, 10])
    labels = np.repeat(np.arange(5), counts)
    return {
        "1 and 9": np.array([[0.0, 1.0], [9.0, 0.0]]),
        "uniform": off_diagonal(rng.uniform(0, 10, (10, 10))),
        "exponential": off_diagonal(rng.exponential(1.0, (10, 10))),
        "proportional": csdl.costs.randomized_proportional(labels, seed=0),
    }


def interval_cases() -> list[Case]:
    """Returns single models with frequent to rare mistakes and bounded to skewed costs."""
    by, even = matrices(), np.full(10, 0.1)
    skewed = np.array([1000, 300, 100, 30, 10]) / 1440
    return [
        by_matrix("K = 2, 10 % wrong, costs 1 and 9", by["1 and 9"], np.full(2, 0.5), 0.1),
        by_matrix("K = 2, 0.2 % wrong, costs 1 and 9", by["1 and 9"], np.full(2, 0.5), 0.002),
        by_matrix("K = 10, 10 % wrong, uniform costs", by["uniform"], even, 0.1),
        by_matrix("K = 10, 2 % wrong, exponential costs", by["exponential"], even, 0.02),
        by_matrix("K = 10, 0.1 % wrong, exponential costs", by["exponential"], even, 0.001),
        by_matrix("K = 5, imbalanced, 5 % wrong", by["proportional"], skewed, 0.05),
        abstaining(by["uniform"][:5, :5], 0.02, 0.1, 0.5),
        by_vectors("vectors, 2 % wrong, exponential costs", 0.02, exponential, 1.0),
        by_vectors(
            "vectors, 2 % wrong, log-normal costs", 0.02, lognormal, float(np.exp(1.5**2 / 2))
        ),
        by_matrix("K = 10, nothing wrong", by["uniform"], even, 0.0),
    ]


def pair_of(name: str, matrix: np.ndarray, shares: tuple, common: float) -> Case:
    """Returns a case of two models with individual and common mistakes."""
    classes = len(matrix)

    def draw(rng: np.random.Generator, size: int) -> tuple:
        labels = rng.integers(classes, size=size)
        base = wrong_of(rng, labels, classes, common)
        own = [
            np.where(base == labels, wrong_of(rng, labels, classes, share), base)
            for share in shares
        ]
        return labels, *own, matrix

    mean = matrix.sum() / classes / (classes - 1)
    return Case(name, draw, float((1 - common) * (shares[0] - shares[1]) * mean))


def rare_against_frequent(rng: np.random.Generator, size: int) -> tuple:
    """Draws one model with nine times as many mistakes at a ninth of the cost of another."""
    labels = rng.integers(2, size=size)
    chance = rng.uniform(size=(2, size))
    frequent = np.where((labels == 0) & (chance[0] < 0.18), 1, labels)
    rare = np.where((labels == 1) & (chance[1] < 0.02), 0, labels)
    return labels, frequent, rare, matrices()["1 and 9"]


def vector_pair(rng: np.random.Generator, size: int) -> tuple:
    """Draws two models that are wrong equally often, with costs of each example."""
    costs = lognormal(rng, (size, 3))
    costs[:, 0] = 0.0
    truth = np.zeros(size, int)
    return costs, *(wrong_of(rng, truth, 3, 0.05) for _ in range(2)), None


def pair_cases() -> list[Case]:
    """Returns pairs of models of equal and of different expected cost."""
    by = matrices()
    return [
        pair_of("both 5 % wrong, uniform costs", by["uniform"], (0.05, 0.05), 0.0),
        pair_of("both 1 % wrong beside 5 % alike", by["uniform"], (0.01, 0.01), 0.05),
        Case("9 % at cost 1, 1 % at cost 9", rare_against_frequent, 0.0),
        Case("vectors, both 5 % wrong, log-normal costs", vector_pair, 0.0),
        pair_of("2 % against 5 % wrong, uniform costs", by["uniform"], (0.02, 0.05), 0.0),
        pair_of("5 % against 7 % wrong, costs 0 and 1", 1.0 - np.eye(10), (0.05, 0.07), 0.0),
    ]
