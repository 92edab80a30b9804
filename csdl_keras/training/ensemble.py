"""Members of an ensemble trained as one network, whose layers hold the weights of all of them."""

from collections.abc import Iterable, Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.quiet_tracing import quiet_tracing
from csdl_keras._utils.types import Weights
from csdl_keras.fitting.fit import executed_steps, seeded_fit
from csdl_keras.layers import MemberScaling
from csdl_keras.prediction.fit_temperature import fit_temperature
from csdl_keras.training.bodies import Body
from csdl_keras.training.data import Examples


def fit_stacked(
    networks: Sequence[keras.Model],
    body: Body,
    train: Examples,
    validation: Examples | None,
    folds: np.ndarray | None,
    **fit_arguments: Any,
) -> tuple[Weights, dict[str, Any]]:
    """Trains networks by the negative log-likelihood, on the same batches.

    Small networks spend most of a step outside arithmetic: the five of `ensemble_bayes` on a table
    of 15,000 examples take 0.64 of the seconds of one after the other (TensorFlow, 2 cores). Each
    network keeps its own best epoch. With folds of the training examples, those of its own fold
    have the weight 0 for a network.

    Args:
        networks: untrained networks of a body.
        body: how they are trained.
        train: training examples.
        validation: validation examples, or `None`.
        folds: the fold of each training example, `(N,)`, or `None`.
        **fit_arguments: more arguments of `seeded_fit`.

    Returns:
        The weights of the first network, then of the second, and so on, and a record.
    """
    members, weights, held_out = len(networks), None, None
    if folds is not None:
        validation, number = train, folds.max() + 1
        held_out = folds[:, None] == np.arange(members)
        weights = np.where(held_out, 0.0, number / (number - 1)).astype("float32")
    model = stack(networks)
    model.compile(
        body.optimizer(body.steps_on(train.x.shape), on_costs=False),
        loss=keras.losses.SparseCategoricalCrossentropy(),
        loss_weights=[float(members)],  # a mean over members becomes a sum
        steps_per_execution=executed_steps(len(train.x), body.batch_size),
    )
    best = _BestEpochs(networks, validation, held_out)
    history = seeded_fit(
        model,
        train.x,
        np.repeat(train.y[:, None], members, axis=1),
        stateful=[best],
        sample_weight=weights,
        epochs=body.epochs_on(train.x.shape),
        batch_size=body.batch_size,
        **fit_arguments,
    )
    arrays = [array for weights in best.best_weights for array in weights]
    return arrays, {"epochs": len(history.epoch), "history": as_lists(history)}


def as_lists(history: keras.callbacks.History) -> dict[str, list[float]]:
    """Returns the values of each epoch as JSON can hold them."""
    return {name: list(map(float, values)) for name, values in history.history.items()}


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

    state_names = ("best", "best_weights")

    def __init__(
        self,
        networks: Sequence[keras.Model],
        validation: Examples | None,
        held_out: np.ndarray | None,
    ):
        super().__init__()
        self.networks = networks
        self.validation = validation
        self.held_out = True if held_out is None else held_out  # `(N, M)`, who validates whom
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


@quiet_tracing()
def cross_fitted_temperature(members: Sequence[keras.Model], folds: Sequence[Examples]) -> float:
    """Returns the temperature that suits members on the examples that each was held out from."""
    rows = [
        member.predict(examples.x, verbose=0)
        for member, examples in zip(members, folds, strict=True)
    ]
    labels = np.concatenate([examples.y for examples in folds])
    return fit_temperature(np.concatenate(rows), labels)[0]
