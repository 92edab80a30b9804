"""A network of the user's as the body of an algorithm."""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import keras

from csdl_keras import models
from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.frames import Table
from csdl_keras._utils.keras_graph import all_layers, layer_of, sources_of
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.structure import (
    estimator_hint,
    has_structure,
    inputs_of,
    output_of,
)
from csdl_keras._utils.tensors import alike
from csdl_keras._utils.types import Tensor
from csdl_keras.layers import ClassProbabilities
from csdl_keras.models.heads import output_layer
from csdl_keras.prediction.kind import check_loss, describe_tensor
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.bodies import AutoNetwork
from csdl_keras.training.settings import Settings

#: An uncompiled model, or a function of the shape of an input and `K` that returns one.
Network: TypeAlias = keras.Model | Callable[[tuple[int, ...], int], keras.Model]


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnNetwork(AutoNetwork):
    """A network of the user's, trained as the network of the default algorithms is.

    Its last layer tells what it outputs, and what an algorithm needs besides is added or taken
    away, see `csdl_keras.train`. The epoch of the lowest validation loss is kept.

    Args:
        network: a function `build(input_shape, num_classes)` that returns a new `keras.Model`,
            or a model, of which each member of an ensemble trains a copy with new weights.
            Layers that are frozen, and those that learn without gradients as
            `Normalization`, keep their weights.
        copies: whether networks of a function are copied with their weights, so that members
            of an ensemble share no layers, such as a backbone made before. Defaults to False.
        **choices: as for `AutoNetwork`.

    Example:

    >>> network = keras.Sequential([keras.layers.Dense(8, "relu")])
    >>> rows = keras.random.uniform((20, 4))
    >>> OwnNetwork(network=network).build(rows, 3, "probability", seed=0).output_shape
    (None, 3)
    """

    network: Network
    copies: bool = False

    def build(self, x: Any, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        if not isinstance(x, Table):
            return with_end(self._new(x.shape[1:], num_outputs, seed), num_outputs, output, seed)
        # Raw rows become standardised numbers without NaN before the network.
        rows = models.tabular(x, 2, (), output="features", name="rows", bins=0)
        network = self._new(rows.output_shape[1:], num_outputs, seed)
        if network.compiled:
            raise ValueError("Expected an uncompiled network for a data frame; received one.")
        ended = with_end(network, num_outputs, output, seed)
        return with_data(keras.Model(rows.input, ended(rows.output), name=ended.name))

    def monitor(self, x: Any) -> str | None:
        return "val_loss"

    def stacks(self, x: Any) -> bool:
        return False

    def smoothing_on(self, shape: Any) -> float:
        return 0.0

    def augments(self, x: Any) -> bool:
        return False

    def _new(self, shape: Any, num_outputs: int, seed: int | None) -> keras.Model:
        """Returns a new network for inputs of a shape."""
        shape = tuple(shape)
        if isinstance(self.network, keras.Model):
            network = _copied(_with_inputs(self.network, shape), Seeds(seed, "network"))
        else:
            network = self.network(shape, num_outputs)
            if not isinstance(network, keras.Model):
                raise ValueError(
                    f"Expected a builder to return a keras.Model; received {network!r}."
                )
            if isinstance(network, keras.Sequential) and not network.built:
                network.build((None, *shape))
            if self.copies and not network.compiled:
                network = _copied(network)
        inputs_of(network)
        expected = [tuple(end.shape[1:]) for end in network.inputs]
        if len(expected) != 1 or not alike(shape, expected[0]):
            raise ValueError(
                f"Expected a network for inputs of shape {shape}; received one for "
                f"{', '.join(map(str, expected))}. Images of another size fit behind a "
                "keras.layers.Resizing at its beginning."
            )
        return network


def with_network(algorithm: Algorithm, network: Network | None, settings: Settings) -> Algorithm:
    """Returns an algorithm with a network of the user's, trained as `settings.auto` says."""
    if network is None:
        return algorithm
    if isinstance(network, type) or not callable(network):
        raise ValueError(
            "Expected `network` to be an uncompiled keras.Model or a function build(input_shape, "
            f"num_classes) that returns one; received {network!r}.{estimator_hint(network)}"
        )
    if isinstance(network, keras.Model) and network.compiled:
        raise ValueError(
            f"Expected an uncompiled `network`, since {algorithm.name!r} has its own loss and "
            f"optimizer; received {network.name!r}, which is compiled."
        )
    own = not isinstance(algorithm.body, str)
    if own or algorithm.pretrains or not algorithm.body_kind.is_network:
        raise ValueError(
            "Expected `network` with an algorithm that trains one without pre-training, such as "
            f"'calibrated_bayes', 'ensemble_bayes' or 'cost_model'; received {algorithm.name!r}"
            f"{', which has a body of its own' if own else ''}."
        )
    fields = dataclasses.fields(AutoNetwork)
    choices = {field.name: getattr(settings.auto, field.name) for field in fields}
    body = OwnNetwork(network=network, copies=(algorithm.members or 1) > 1, **choices)
    return dataclasses.replace(algorithm, body=body)


def _with_inputs(network: keras.Model, shape: tuple[int, ...]) -> keras.Model:
    """Returns the network, or of a sequential one without inputs one that has them."""
    if not isinstance(network, keras.Sequential) or network.built:
        return network
    # The user's own layers stay as they are, so that other data may have another shape.
    layers = [it if it.built else type(it).from_config(it.get_config()) for it in network.layers]
    network = keras.Sequential(layers, name=network.name)
    network.build((None, *shape))
    return network


def _copied(network: keras.Model, seeds: Seeds | None = None) -> keras.Model:
    """Returns a copy, with `seeds` with new weights of all layers that have some to train."""

    def copied(layer: Any) -> Any:
        config = layer.get_config()
        return type(layer).from_config(config if seeds is None else _reseeded(config, seeds))

    inputs_of(network)
    copy = keras.models.clone_model(network, clone_function=copied)
    for old, new in zip(all_layers(network), all_layers(copy), strict=True):
        if old.weights and (seeds is None or not old.trainable_weights):
            new.set_weights(old.get_weights())
            if hasattr(new, "finalize_state"):
                new.finalize_state()  # `Normalization` computes with what follows from its weights.
    return copy


def _reseeded(config: Any, seeds: Seeds) -> Any:
    """Returns a config with other seeds, so that no two copies begin at the same weights."""
    if isinstance(config, (list, tuple)):
        return type(config)(_reseeded(one, seeds) for one in config)
    if not isinstance(config, dict):
        return config
    changed = {name: _reseeded(one, seeds) for name, one in config.items()}
    if isinstance(changed.get("seed"), int):
        changed["seed"] = seeds.next()
    return changed


def with_end(network: keras.Model, num_outputs: int, output: str, seed: int | None) -> keras.Model:
    """Returns a network with the outputs that an algorithm trains.

    A network of features gets an output layer, after the mean over positions if they are maps
    of features; logits get a softmax; for features, an output layer is left out.

    Args:
        network: a functional model.
        num_outputs: number of classes, or of decisions for costs.
        output: `"probability"`, `"cost"` or `"features"`.
        seed: seed of a new output layer.

    Raises:
        ValueError: if the network's outputs are of another kind or number.
    """
    tensor = output_of(network)
    kind = network_kind(tensor, num_outputs)
    ready = len(tensor.shape) == 2 and (kind != "probability" or tensor.shape[-1] > 1)
    if kind == output and ready:
        check_loss(network, output)
        return network
    if kind == "cost":
        raise ValueError(
            f"Expected a network that outputs features, logits or probabilities for an algorithm "
            f"that trains {output}; received {network.name!r}, which outputs costs. Those are "
            "trained by algorithms such as 'dnn_sosr'."
        )
    if output == "cost" and kind != "features":
        raise ValueError(
            "Expected a network that outputs features, or costs by a CostOutput, for an algorithm "
            f"that trains costs; received {network.name!r}, which outputs {_NAMES[kind]}."
        )
    while output == "features" and kind != "features":
        tensor = _before(network, tensor)
        kind = network_kind(tensor, num_outputs)
    if kind == "features":
        tensor = _pooled(network, tensor)
    if output == "features":
        end = keras.layers.Identity(name="features")(tensor)
    elif kind == "features":
        initializer = keras.initializers.GlorotUniform(seed)
        end = output_layer(num_outputs, output, kernel_initializer=initializer)(tensor)
    else:
        end = ClassProbabilities(kind == "logit", name="probability")(tensor)
    if network.compiled:
        raise ValueError(
            f"Expected an uncompiled network; received {network.name!r}, which is compiled but "
            f"outputs {_NAMES[kind]}, so that an algorithm that trains {output} changes its end."
        )
    return keras.Model(inputs_of(network), end, name=network.name)


_NAMES = {
    "probability": "probabilities",
    "cost": "costs",
    "logit": "logits",
    "features": "features",
}


def network_kind(tensor: Tensor, num_outputs: int) -> str:
    """Returns what an output is: `"probability"`, `"cost"`, `"logit"` or `"features"`.

    Raises:
        ValueError: if it is for another number of classes, or scores of classes that are none
            of these.
    """
    kind, words = describe_tensor(tensor)
    layer = layer_of(tensor)
    while isinstance(layer, keras.Model) and has_structure(layer):
        layer = layer_of(output_of(layer))
    activation = getattr(layer, "activation", None)
    width, alone = tensor.shape[-1], num_outputs == 2 and tensor.shape[-1] == 1
    if kind == "score" or (activation is keras.activations.sigmoid and width == num_outputs > 1):
        raise ValueError(
            "Expected a network that ends in a softmax, in logits (a Dense without activation), "
            f"in a CostOutput or in features; received one that ends in {words}."
        )
    if kind in ("probability", "cost"):
        if width != num_outputs and not (alone and kind == "probability"):
            raise ValueError(
                f"Expected a network with an output for each of {num_outputs} classes; received "
                f"{width} of one that ends in {words}."
            )
        return kind
    linear = isinstance(layer, keras.layers.Dense) and activation is keras.activations.linear
    return "logit" if linear and (width == num_outputs or alone) else "features"


def _before(network: keras.Model, tensor: Tensor) -> Tensor:
    """Returns what the last layer is given."""
    layer, inputs = layer_of(tensor), sources_of(tensor)
    if isinstance(layer, keras.Model) or len(inputs) != 1:
        raise ValueError(
            "Expected a network whose features can be taken from before its last layer; received "
            f"{network.name!r}, which ends in {type(layer).__name__} {layer.name!r}. Pass it "
            "without its output layer."
        )
    return inputs[0]


def _pooled(network: keras.Model, tensor: Tensor) -> Tensor:
    """Returns features `(batch, F)`; maps of features are averaged over positions."""
    rank = len(tensor.shape)
    pools = {3: keras.layers.GlobalAveragePooling1D, 4: keras.layers.GlobalAveragePooling2D}
    if rank == 2:
        return tensor
    if rank not in pools:
        raise ValueError(
            "Expected a network of features (batch, F), or of maps of features; received "
            f"{network.name!r} with outputs of shape {tuple(tensor.shape)}."
        )
    return pools[rank](name="mean")(tensor)
