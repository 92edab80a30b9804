"""Paired timings of one way relative to another, on the same machine in the same minute."""

import dataclasses
import gc
import time
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Ratio:
    """Median of a ratio measured several times, and its quantiles at 5 % and 95 %."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> "Ratio":
        """Returns the ratio that summarises measured ones."""
        low, high = np.quantile(values, [0.05, 0.95])
        return cls(float(np.median(values)), float(low), float(high))

    @classmethod
    def between(cls, values: np.ndarray, others: np.ndarray) -> "Ratio":
        """Returns the ratio of all pairs of values that were not measured in pairs."""
        return cls.of(np.divide.outer(values, others).ravel())


def freeze() -> None:
    """Excludes all objects so far from garbage collections, which take tenths of a second."""
    gc.collect()
    gc.freeze()


def seconds(run: Callable[[], object]) -> float:
    """Returns the seconds that a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def interleaved(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, np.ndarray]:
    """Measures the seconds of each way in each round, after one round that is not counted.

    Ways alternate, so that a change in the machine's speed affects all of them alike; every
    other round runs in reverse order.
    """
    found: dict[str, list[float]] = {name: [] for name in ways}
    for index in range(rounds + 1):
        if index == 1:
            freeze()
        for name in list(ways)[:: 1 if index % 2 else -1]:
            taken = seconds(ways[name])
            if index:
                found[name].append(taken)
    return {name: np.array(values) for name, values in found.items()}
