"""Simulations of the report's intervals, ties and verdicts over few cost matrices."""

from collections.abc import Iterator

import coverage_rivals as rivals
import numpy as np
from coverage_cases import generator
from coverage_table import averages

import csdl_keras as csdl
from csdl_keras.experiments.reporting.claim import Claim, ComparedPair
from csdl_keras.experiments.reporting.comparison import Difference, PairedDifferences

EXAMPLES, CLASSES = 500, 10
#: Ratios of the standard error of differences over matrices to that over examples.
SETTINGS = {
    "no matrix error": 0.0,
    "matrix error as large as the example error": 1.0,
    "matrix error 3.5 times the example error": 3.5,
    "networks with mistakes of their own, balanced matrices": None,
    "networks with mistakes of their own, imbalanced matrices": None,
}
#: Size of the effect of a true claim, in standard errors, and the data sets that test it.
EFFECT, DATA_SETS = 3.0, 6


def by_errors(
    rng: np.random.Generator, matrices: int, ratio: float, rows: int = 2
) -> tuple[np.ndarray, float]:
    """Draws costs `(rows, M, N)` of equally good rows; returns them and the largest cost."""
    example = rng.exponential(size=(rows, 1, EXAMPLES)) - 1.0
    own = rng.exponential(size=(rows, matrices, EXAMPLES)) - 1.0
    # Errors of means over M matrices have the ratio, whatever M is.
    matrix = rng.normal(size=(rows, matrices, 1)) * ratio * (matrices / EXAMPLES) ** 0.5
    return 5.0 + example + 0.3 * own + matrix, 10.0


def by_networks(
    rng: np.random.Generator, matrices: int, imbalanced: bool
) -> tuple[np.ndarray, float]:
    """Draws costs of two networks for each matrix that are equally good on average."""
    counts = np.where(np.arange(CLASSES) < 4, 300, 1000) if imbalanced else np.full(CLASSES, 1000)
    train = np.repeat(np.arange(CLASSES), counts)
    labels = rng.choice(CLASSES, size=EXAMPLES, p=counts / counts.sum())
    costs, largest = np.zeros((2, matrices, EXAMPLES)), []
    for m in range(matrices):
        matrix = csdl.costs.randomized_proportional(train, seed=int(rng.integers(2**31)))
        largest.append(matrix.max())
        for row in costs[:, m]:
            # Some networks come out better than others.
            share = 0.15 * rng.lognormal(0.0, 0.3)
            shift = rng.integers(1, CLASSES, size=EXAMPLES)
            wrong = rng.uniform(size=EXAMPLES) < share
            row[:] = matrix[labels, np.where(wrong, (labels + shift) % CLASSES, labels)]
    return costs, float(np.mean(largest))


def compare(costs: np.ndarray, largest: float) -> Difference:
    """Returns the report's difference between two rows."""
    named = {
        name: {(matrix, 0): row for matrix, row in enumerate(each)}
        for name, each in zip("ab", costs, strict=True)
    }
    bounds = dict.fromkeys(range(costs.shape[1]), largest)
    return PairedDifferences(named, bounds).compare("a", "b")


def report_rows(setting: str, matrices: int, runs: int) -> Iterator[dict]:
    """Measures how often two rows that cost the same are called different."""
    rng = generator("matrices", setting, matrices)
    draws = generator("examples").multinomial(
        EXAMPLES, np.full(EXAMPLES, 1 / EXAMPLES), size=rivals.REPLICATES
    )
    found: dict[tuple[str, str], list] = {}
    for _ in range(runs):
        if (ratio := SETTINGS[setting]) is None:
            costs, largest = by_networks(rng, matrices, "imbalanced" in setting)
        else:
            costs, largest = by_errors(rng, matrices, ratio)
        differences = costs[0] - costs[1]
        ours = compare(costs, largest)
        intervals = {
            "csdl_keras": (ours.low, ours.high),
            "joint bootstrap": rivals.joint_bootstrap(differences, draws.T, rng),
        }
        if matrices > 1:
            intervals["Student's t over matrices alone"] = rivals.student(differences.mean(axis=1))
        for method, (low, high) in intervals.items():
            found.setdefault((method, "called different"), []).append(low > 0 or high < 0)
            found.setdefault((method, "width"), []).append(high - low)
    yield from averages(found)


def verdict_rows(setting: str, matrices: int, runs: int) -> Iterator[dict]:
    """Measures how often an equal row is not bold, and how claims are judged."""
    rng = generator("verdicts", setting, matrices)
    effect = EFFECT if setting == "different" else 0.0
    found: dict[str, list] = {}
    for _ in range(runs):
        if not effect:
            for rows in (2, 5, 15):
                costs, largest = by_errors(rng, matrices, 3.5, rows)
                best = costs.mean(axis=(1, 2)).argmin()
                # The first row is truly the best, as is any.
                tied = best == 0 or not compare(costs[[0, best]], largest).costlier
                found.setdefault(f"of {rows} equal rows, a given one is not bold", []).append(
                    not tied
                )
        comparisons = []
        for _ in range(DATA_SETS):
            costs, largest = by_errors(rng, matrices, 3.5)
            # In units of the standard error of the difference of means.
            costs[0] -= effect * (2 * (1 + 3.5**2) / EXAMPLES) ** 0.5
            comparisons.append(ComparedPair("", "a", "b", compare(costs, largest)))
        for verdict in ("supported", "mixed", "not supported"):
            for ties in (False, True):
                claim = Claim("", "", tuple(comparisons), ties)
                name = f'"is competitive to" is {verdict}' if ties else f'"costs less" is {verdict}'
                found.setdefault(name, []).append(claim.verdict == verdict)
    yield from averages({("csdl_keras", measure): values for measure, values in found.items()})
