"""Trains small networks in compiled loops, for `worth.py`; needs Keras' JAX backend."""

import functools
from collections.abc import Callable, Iterator, Sequence

import jax
import keras
import numpy as np
from jax import numpy as jnp
from worth_search import LAST_BEYOND, updates_at
from worth_sets import WorthSet, load

import csdl_keras as csdl

BATCH_SIZE = 64

_LOSSES = {
    "nll": ("probability", keras.losses.SparseCategoricalCrossentropy),
    "sosr": ("cost", csdl.SOSRLoss),
    "poisson": ("cost", csdl.PoissonCostLoss),
}
Weights = list[np.ndarray]


class CompiledTraining:
    """The training of one network by one loss, compiled once for all rates, targets and seeds.

    Args:
        data: the set whose inputs it trains on.
        hidden_units: units of the hidden layers of `models.mlp`.
        activation: their activation.
        objective: `"nll"`, `"sosr"` or `"poisson"`.
    """

    def __init__(
        self, data: WorthSet, hidden_units: Sequence[int], activation: str, objective: str
    ):
        output, loss = _LOSSES[objective]
        self.make = functools.partial(
            csdl.models.mlp,
            (data.x.shape[1],),
            data.num_classes,
            hidden_units,
            activation,
            output,
        )
        self.data, self.model, self.loss = data, self.make(), loss()
        # The gradient's norm is limited for all losses, as the package does for costs.
        self.optimizer = keras.optimizers.Adam(global_clipnorm=1.0)
        self.optimizer.build(self.model.trainable_variables)
        self._start = [np.array(variable) for variable in self.optimizer.variables]
        self._advance = jax.jit(self._updates)
        self._predict = jax.jit(self._outputs)
        self._x, self._x_test = jnp.asarray(data.x), jnp.asarray(data.x_test)

    def _updates(self, state, x, targets, batches, first, last):
        def loss(weights, rows):
            outputs, _ = self.model.stateless_call(weights, [], x[rows], training=True)
            return self.loss(targets[rows], outputs)

        def update(index, state):
            weights, variables = state
            slopes = jax.grad(loss)(weights, batches[index])
            return self.optimizer.stateless_apply(variables, slopes, weights)

        return jax.lax.fori_loop(first, last, update, state)

    def _outputs(self, weights, x):
        return self.model.stateless_call(weights, [], x)[0]

    def snapshots(
        self,
        weights: Weights,
        targets: np.ndarray,
        rows: np.ndarray,
        x_val: np.ndarray,
        learning_rate: float,
        seed: int,
    ) -> Iterator[tuple[np.ndarray, Callable[[], np.ndarray]]]:
        """Yields outputs on the validation inputs, and a function for those on the test inputs.

        Args:
            weights: the initial weights.
            targets: labels or scaled costs of all inputs of the set, of which it sees `rows`.
            rows: indices of the training examples.
            x_val: the validation inputs.
            learning_rate: the learning rate.
            seed: seed of the batches.
        """
        variables = [
            np.float32(learning_rate) if variable is self.optimizer.learning_rate else start
            for variable, start in zip(self.optimizer.variables, self._start, strict=True)
        ]
        state = jax.tree.map(jnp.array, (list(weights), variables))
        batches = _batches(tuple(rows), updates_at(LAST_BEYOND), seed)
        targets, done = jnp.asarray(targets), 0
        for snapshot in range(LAST_BEYOND + 1):
            updates = updates_at(snapshot)
            state = self._advance(state, self._x, targets, batches, done, updates)
            done, weights = updates, state[0]
            yield (
                np.asarray(self._predict(weights, x_val), "float64"),
                lambda weights=weights: np.asarray(self._predict(weights, self._x_test), "float64"),
            )

    def initial_weights(self, seed: int) -> Weights:
        """Returns the initial weights of that seed."""
        return self.make(seed=seed).get_weights()


@functools.cache
def compiled_training(
    name: str, hidden_units: tuple[int, ...], activation: str, objective: str
) -> CompiledTraining:
    """Returns the training of a network on a set, which is compiled once in each process."""
    return CompiledTraining(load(name), hidden_units, activation, objective)


@functools.lru_cache(maxsize=1)
def _batches(rows: tuple[int, ...], count: int, seed: int) -> jax.Array:
    """Draws batches `(count, BATCH_SIZE)` from shuffles of the rows, one after the other."""
    rng = np.random.default_rng(seed)
    passes = -(-count * BATCH_SIZE // len(rows))
    order = np.concatenate([rng.permutation(rows) for _ in range(passes)])
    return jnp.asarray(order[: count * BATCH_SIZE].reshape(count, BATCH_SIZE).astype("int32"))
