"""Members of an ensemble trained as one network, whose layers hold the weights of all of them."""

from collections.abc import Iterable, Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.seeds import member_seed
from csdl_keras._utils.types import Weights
from csdl_keras.fitting.seeded_fit import executed_steps, seeded_fit
from csdl_keras.layers import MemberScaling
from csdl_keras.training.data import Examples, TrainingData
from csdl_keras.training.fit_network import FitOptions, build_network
from csdl_keras.training.folds import folds_of
from csdl_keras.training.recipe import Recipe


def fit_stacked(
    recipe: Recipe, data: TrainingData, options: FitOptions
) -> tuple[Weights, dict[str, Any]]:
    """Trains `recipe.stacked` networks by the negative log-likelihood, on the same batches.

    Small networks spend most of a step outside arithmetic: the five of `ensemble_bayes` on a table
    of 15,000 examples take 0.64 of the seconds of one after the other (TensorFlow, 2 cores). Each
    network keeps its own best epoch. With folds of the training examples, those of its own fold
    have the weight 0 for a network.

    Returns:
        The weights of the first network, then of the second, and so on, and a record.
    """
    train, validation, body = data.train, data.validation, recipe.body
    weights, held_out = None, True
    if recipe.folds:
        validation = train
        held_out = folds_of(recipe, data)[:, None] == np.arange(recipe.stacked)
        weights = np.where(held_out, 0.0, recipe.folds / (recipe.folds - 1)).astype("float32")
    steps = body.steps_on(train.x.shape)
    networks = [
        build_network(recipe, train.x, member_seed(options.seed, member))
        for member in range(recipe.stacked)
    ]
    model = stack(networks)
    batch_size = body.batch_size
    model.compile(
        body.optimizer(steps, on_costs=False),
        loss=keras.losses.SparseCategoricalCrossentropy(),
        loss_weights=[float(recipe.stacked)],  # a mean over members becomes a sum
        steps_per_execution=executed_steps(len(train.x), batch_size),
    )
    best = _BestEpochs(networks, validation, held_out)
    history = seeded_fit(
        model,
        train.x,
        np.repeat(train.y[:, None], recipe.stacked, axis=1),
        options.seed,
        options.unfinished,
        options.all_callbacks,
        [best],
        sample_weight=weights,
        epochs=body.epochs_on(train.x.shape),
        batch_size=batch_size,
        what=repr(recipe.algorithm.name),
        verbose=options.verbose,
    )
    arrays = [array for weights in best.best_weights for array in weights]
    return arrays, {"epochs": len(history.epoch)}


def split_members(arrays: Sequence[np.ndarray], members: int) -> list[Sequence[np.ndarray]]:
    """Returns the weights of each member, out of those that `fit_stacked` returns."""
    size = len(arrays) // members
    return [arrays[i * size : (i + 1) * size] for i in range(members)]


def stack(networks: Sequence[keras.Model]) -> keras.Model:
    """Returns one network that outputs what each of several outputs, `(batch, M, K)`.

    Args:
        networks: `M` chains of layers of equal shapes, which may differ only in the weights of
            their dense layers and of `MemberScaling`. Other layers are shared.
    """
    members = len(networks)
    inputs = x = keras.Input(networks[0].input_shape[1:])
    stacked = False
    for layer in networks[0].layers[1:]:
        if isinstance(layer, keras.layers.Dense):
            if not stacked:
                x, stacked = keras.layers.RepeatVector(members)(x), True
            x = keras.layers.EinsumDense(
                "bmf,mfu->bmu" if len(x.shape) == 3 else "bkmf,mfu->bkmu",
                (*x.shape[1:-2], members, layer.units),
                activation=layer.activation,
                bias_axes="mu",
                dtype=layer.dtype_policy,
            )(x)
        elif isinstance(layer, MemberScaling):
            x = MemberScaling(layer.members, layer.seed, dtype=layer.dtype_policy)(x)
        else:
            x = layer(x)
    model = keras.Model(inputs, x, name="stacked")
    for layer, *twins in zip(_own(model), *map(_own, networks), strict=True):
        weights = zip(*(twin.get_weights() for twin in twins), strict=True)
        layer.set_weights([np.stack(arrays, _axis(layer)) for arrays in weights])
    return model


def _own(model: keras.Model) -> list[keras.layers.Layer]:
    """Returns the layers of which each network has its own."""
    kinds = (keras.layers.Dense, keras.layers.EinsumDense, MemberScaling)
    return [layer for layer in model.layers if isinstance(layer, kinds)]


def _axis(layer: keras.layers.Layer) -> int:
    """Returns the axis of networks in the weights of a stacked layer."""
    return 1 if isinstance(layer, MemberScaling) else 0


class _BestEpochs(keras.callbacks.Callback):
    """Keeps each member's weights of its lowest validation loss; without examples, the last."""

    def __init__(
        self,
        networks: Sequence[keras.Model],
        validation: Examples | None,
        held_out: np.ndarray | bool = True,
    ):
        super().__init__()
        self.networks = networks
        self.validation = validation
        self.held_out = held_out  # `(N, M)`, the examples that validate each
        self.best = np.full(len(networks), np.inf)
        self.best_weights: list[Weights] = [network.get_weights() for network in networks]

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        if self.validation is None:
            return
        x, y = self.validation.x, self.validation.y
        outputs = np.asarray(self.model.predict(x, batch_size=1024, verbose=0), "float64")
        chosen = np.maximum(outputs[np.arange(len(y)), :, y], keras.config.epsilon())
        losses = -np.mean(np.log(chosen), axis=0, where=self.held_out)
        better = np.flatnonzero(losses < self.best)
        self.best[better] = losses[better]
        self._keep(better)

    def on_train_end(self, logs: dict[str, float] | None = None) -> None:
        if self.validation is None:
            self._keep(range(len(self.networks)))

    def _keep(self, members: Iterable[int]) -> None:
        stacked = _own(self.model)
        arrays = [layer.get_weights() for layer in stacked]
        for member in members:
            network = self.networks[member]
            for layer, own, all_of_it in zip(stacked, _own(network), arrays, strict=True):
                own.set_weights([np.take(array, member, _axis(layer)) for array in all_of_it])
            self.best_weights[member] = network.get_weights()
