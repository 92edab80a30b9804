"""Problems of `pretraining_map.py`: few labels, many images without."""

import functools

import keras
import numpy as np
from cost_matrices import cost_matrix
from keras import layers

import csdl_keras as csdl
from csdl_keras.losses import PoissonCostLoss, SOSRLoss

TEST_SIZE = 5_000


@functools.lru_cache(maxsize=2)
def load(name: str) -> csdl.datasets.DataSet:
    """Loads the data set of that name once in each process."""
    return csdl.datasets.load(name.removesuffix("_imb"), name.endswith("_imb"))


class Problem:
    """Unlabelled images, a few labelled ones, a cost matrix and test data.

    Args:
        name: name of the data set, with `_imb` for its imbalanced variant.
        labels: number of labelled examples, of which a fifth is for validation.
        seed: seed of the draws of examples and of the matrix.
        unlabelled: largest number of unlabelled images.
    """

    def __init__(self, name: str, labels: int, seed: int, unlabelled: int):
        data = load(name)
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(data.x_train))
        self.x_all = data.x_train[order[:unlabelled]]
        own = _stratified(data.y_train, labels, rng)
        held = _stratified(data.y_train[own], labels // 5, rng)
        rest = np.setdiff1d(np.arange(len(own)), held)
        self.x, self.y = data.x_train[own[rest]], data.y_train[own[rest]]
        self.x_val, self.y_val = data.x_train[own[held]], data.y_train[own[held]]
        self.x_test, self.y_test = data.x_test[:TEST_SIZE], data.y_test[:TEST_SIZE]
        self.num_classes = data.num_classes
        self.matrix = cost_matrix(data, seed)
        self.seed = seed
        self.rng = rng

    def head(self, kind: str) -> tuple[layers.Layer, np.ndarray, np.ndarray, keras.losses.Loss]:
        """Returns a layer that reads costs or labels off a code, with targets, weights and loss."""
        scaled = self.matrix / self.matrix.max()
        targets, weights = scaled[self.y].astype("float32"), np.ones(len(self.y))
        if kind == "sosr":
            return layers.Dense(self.num_classes), targets, weights, SOSRLoss()
        if kind == "poisson":
            start = keras.initializers.Constant(np.log(targets.mean()))
            head = layers.Dense(self.num_classes, bias_initializer=start)
            return head, targets, weights, PoissonCostLoss()
        if kind == "weighted_nll":
            weights = scaled[self.y].sum(axis=1)
            weights = weights / weights.mean()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        return layers.Dense(self.num_classes), self.y, weights, loss


def _stratified(y: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draws about `size` indices in the proportion of classes, at least one of each class."""
    chosen = []
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        chosen.append(members[: max(1, round(size * len(members) / len(y)))])
    return np.sort(np.concatenate(chosen))
