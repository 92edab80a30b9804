"""Paired timings: one way in units of another, on the same machine in the same minute."""

import dataclasses
import gc
import time
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A ratio measured several times: its median, and the range of the middle nine tenths."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> "Ratio":
        """The ratio of measured ones."""
        low, high = np.quantile(values, [0.05, 0.95])
        return cls(float(np.median(values)), float(low), float(high))

    @classmethod
    def between(cls, values: np.ndarray, others: np.ndarray) -> "Ratio":
        """The ratio of what was measured at different times, whose pairs mean nothing: of all."""
        return cls.of(np.divide.outer(values, others).ravel())


def freeze() -> None:
    """Collections otherwise look through all imported modules, for tenths of a second."""
    gc.collect()
    gc.freeze()


def seconds(run: Callable[[], object]) -> float:
    """What a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def interleaved(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, np.ndarray]:
    """Seconds of each way in each round, after one round that is not counted.

    Ways take turns, so that a machine whose speed drifts slows all of them alike;
    every other round goes backwards.
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
