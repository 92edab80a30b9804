"""The search of `worth.py` for learning rates, the same for every loss."""

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

#: Learning rates in half decades, and factors of SOSR's costs.
RATES = tuple(10.0 ** (exponent / 2) for exponent in range(-10, 1))
SCALES = tuple(4.0**exponent for exponent in range(-2, 6))
#: The first trials: every second decade, and for SOSR the paper's scale and a larger one.
FIRST_RATES = (3, 5, 7)
ONE_SCALE, FIRST_SCALES = (2,), (2, 4)
#: Training stops when validation has not improved for as many snapshots, but not before one of
#: them: costs often fall late, after outputs have found their level.
PATIENCE, EARLIEST = 6, 18


class Trial(NamedTuple):
    """What one training came to at its best snapshot.

    Args:
        score: what validation says, lower is better; infinite if training diverged.
        snapshot: the best snapshot.
        val: outputs on the validation inputs there.
        test: outputs on the test inputs there.
        at_limit: whether the best snapshot is the last one that the budget allows.
    """

    score: float
    snapshot: int
    val: np.ndarray
    test: np.ndarray
    at_limit: bool


class Choice(NamedTuple):
    """A learning rate and a scale of costs, as places in `RATES` and `SCALES`."""

    rate: int
    scale: int

    @property
    def learning_rate(self) -> float:
        """The learning rate."""
        return RATES[self.rate]

    @property
    def cost_scale(self) -> float:
        """The factor of costs."""
        return SCALES[self.scale]

    def on_edge(self, scaled: bool) -> bool:
        """Returns True if nothing was tried beyond it."""
        return self.rate in (0, len(RATES) - 1) or (scaled and self.scale in (0, len(SCALES) - 1))

    def neighbours(self, scaled: bool) -> Iterable["Choice"]:
        """Returns the next smaller and larger rates, and scales if these are searched too."""
        for step in (-1, 1):
            if 0 <= self.rate + step < len(RATES):
                yield Choice(self.rate + step, self.scale)
            if scaled and 0 <= self.scale + step < len(SCALES):
                yield Choice(self.rate, self.scale + step)


def best_snapshot(
    snapshots: Iterable[tuple[np.ndarray, Callable[[], np.ndarray]]],
    score: Callable[[np.ndarray], float],
    last: int,
) -> Trial:
    """Finds the snapshot of the lowest score; stops when it no longer falls."""
    best = None
    for snapshot, (val, test) in enumerate(snapshots):
        found = score(val) if np.isfinite(val).all() else np.inf
        if best is None or found < best[0]:
            best = found, snapshot, val, test
        if snapshot == last or snapshot >= max(EARLIEST, best[1] + PATIENCE):
            break
    return Trial(best[0], best[1], best[2], best[3](), best[1] == last)


def search(train: Callable[[Choice], Trial], scaled: bool) -> dict[Choice, Trial]:
    """Tries a coarse grid, then the neighbours of the best choice until none is better.

    The best choice has been compared with both its neighbours, so it lies on no edge of what
    was tried unless it is a first or last value of `RATES` or `SCALES`.

    Args:
        train: trains with a choice.
        scaled: whether the scale of costs is searched too.

    Returns:
        All trials, the best one first.
    """
    train = functools.cache(train)
    grid = itertools.product(FIRST_RATES, FIRST_SCALES if scaled else ONE_SCALE)
    trials = {choice: train(choice) for choice in itertools.starmap(Choice, grid)}
    while True:
        best = min(trials, key=lambda choice: trials[choice].score)
        new = [choice for choice in best.neighbours(scaled) if choice not in trials]
        if not new:
            return dict(sorted(trials.items(), key=lambda pair: pair[1].score))
        trials |= {choice: train(choice) for choice in new}
