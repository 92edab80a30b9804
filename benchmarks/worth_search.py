"""The search of `worth.py` for learning rates, the same for every loss."""

import functools
import itertools
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import numpy as np

#: Learning rates in half decades, and factors of SOSR's costs.
RATES = tuple(10.0 ** (exponent / 2) for exponent in range(-10, 1))
SCALES = tuple(4.0**exponent for exponent in range(-2, 6))
#: The first trials: every second decade, and for SOSR the paper's scale and a larger one.
FIRST_RATES = (3, 5, 7)
ONE_SCALE, FIRST_SCALES = (2,), (2, 4)
#: Snapshots are taken at numbers of updates that grow by a third of an octave.
FIRST_UPDATES, PER_OCTAVE = 8, 3
#: The last snapshot of a search, 4096 updates, and of training beyond the best one.
LAST, LAST_BEYOND = 27, 32
#: How far training goes on, in octaves.
OCTAVES_BEYOND = 3
#: Training stops when validation has not improved for as many snapshots, but not before one of
#: them: costs often fall late, after outputs have found their level.
PATIENCE, EARLIEST = 6, 18


def updates_at(snapshot: int) -> int:
    """Returns the number of updates before a snapshot."""
    return round(FIRST_UPDATES * 2 ** (snapshot / PER_OCTAVE))


class Snapshot(NamedTuple):
    """A network after a number of updates.

    Args:
        score: what validation says, lower is better.
        number: number of the snapshot.
        val: outputs on the validation inputs.
        test: returns the outputs on the test inputs.
    """

    score: float
    number: int
    val: np.ndarray
    test: Callable[[], np.ndarray]


class Trial(NamedTuple):
    """One training.

    Args:
        best: the snapshot of the lowest score.
        finite: all snapshots with finite outputs.
    """

    best: Snapshot
    finite: list[Snapshot]


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

    def neighbours(self, scaled: bool) -> Iterable["Choice"]:
        """Returns the next smaller and larger rates, and scales if these are searched too."""
        for step in (-1, 1):
            if 0 <= self.rate + step < len(RATES):
                yield Choice(self.rate + step, self.scale)
            if scaled and 0 <= self.scale + step < len(SCALES):
                yield Choice(self.rate, self.scale + step)


def on_edge(choice: Choice, tried: Collection[Choice], scaled: bool) -> bool:
    """Returns True if a value next to a choice was not tried."""
    compared = [one for one in choice.neighbours(scaled) if one in tried]
    return len(compared) < (4 if scaled else 2)


def train_to_best(
    snapshots: Iterable[tuple[np.ndarray, Callable[[], np.ndarray]]],
    score: Callable[[np.ndarray], float],
    last: int,
) -> Trial:
    """Trains until the score no longer falls.

    Args:
        snapshots: outputs on the validation inputs and a function for those on the test inputs.
        score: returns the score of outputs on the validation inputs, lower is better.
        last: number of the last snapshot.
    """
    best, finite = None, []
    for number, (val, test) in enumerate(snapshots):
        fine = bool(np.isfinite(val).all())
        found = Snapshot(score(val) if fine else np.inf, number, val, functools.cache(test))
        finite += [found] if fine else []
        if best is None or found.score < best.score:
            best = found
        if number == last or number >= max(EARLIEST, best.number + PATIENCE):
            break
    return Trial(best, finite)


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
    grid = itertools.product(FIRST_RATES, FIRST_SCALES if scaled else ONE_SCALE)
    trials = {choice: train(choice) for choice in itertools.starmap(Choice, grid)}
    while new := untried(min(trials, key=lambda it: trials[it].best.score), trials, scaled):
        trials |= {choice: train(choice) for choice in new}
    return dict(sorted(trials.items(), key=lambda pair: pair[1].best.score))


def untried(choice: Choice, tried: Collection[Choice], scaled: bool) -> list[Choice]:
    """Returns the neighbours of a choice that were not tried."""
    return [near for near in choice.neighbours(scaled) if near not in tried]
