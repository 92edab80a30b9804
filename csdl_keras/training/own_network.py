"""Makes the user's network the body of an algorithm."""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import keras

from csdl_keras._utils.data_model import with_data
from csdl_keras._utils.keras_private import all_layers, layer_of, sources_of
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.structure import estimator_hint, has_structure, inputs_of, output_of
from csdl_keras._utils.types import Tensor
from csdl_keras.layers.probabilities import ClassProbabilities
from csdl_keras.models.heads import output_layer
from csdl_keras.models.tabular import tabular
from csdl_keras.prediction.kind import describe_tensor
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.bodies import AutoNetwork
from csdl_keras.training.settings import Settings
from csdl_keras_cli.columns import Table

#: An uncompiled model, or a function of the shape of an input and `K` that returns one.
Network: TypeAlias = keras.Model | Callable[[tuple[int, ...], int], keras.Model]


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnNetwork(AutoNetwork):
    """The user's network, trained like that of the default algorithms on tables."""

    network: Network
    #: Whether networks that a function returns are copied, since members must not share layers.
    copies: bool = False

    def build(self, x: Any, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        rows = None
        if isinstance(x, Table):
            # Raw rows become standardised numbers without NaN before the network.
            rows = tabular(x, 2, (), output="features", name="rows", bins=0)
        shape = x.shape[1:] if rows is None else rows.output_shape[1:]
        made = with_end(self._new(tuple(shape), num_outputs, seed), num_outputs, output, seed)
        if rows is not None:
            made = with_data(keras.Model(rows.input, made(rows.output), name=made.name))
        return made

    def augments(self, shape: Any) -> bool:
        return False

    def _new(self, shape: tuple[int, ...], num_outputs: int, seed: int | None) -> keras.Model:
        if isinstance(self.network, keras.Model):
            return _copied(_with_inputs(self.network, shape), Seeds(seed, "network"))
        network = self.network(shape, num_outputs)
        if not isinstance(network, keras.Model) or network.compiled:
            raise ValueError(f"`network` must return an uncompiled keras.Model, not {network!r}.")
        if isinstance(network, keras.Sequential) and not network.built:
            network.build((None, *shape))
        return _copied(network) if self.copies else network


def with_network(algorithm: Algorithm, network: Network | None, settings: Settings) -> Algorithm:
    """Returns an algorithm with the user's network, trained by `settings.auto`."""
    if network is None:
        return algorithm
    if isinstance(network, type) or not callable(network):
        raise ValueError(
            "`network` must be an uncompiled keras.Model or a function build(input_shape, "
            f"num_classes) that returns one; received {network!r}.{estimator_hint(network)}"
        )
    has_own = not isinstance(algorithm.body, str) or not algorithm.body_kind.is_network
    if has_own or algorithm.pretraining_sees:
        raise ValueError(
            f"{algorithm.name!r} does not support `network`. Use an algorithm with a network and "
            "without pre-training, such as 'calibrated_bayes', 'ensemble_bayes' or 'cost_model'."
        )
    body = OwnNetwork(network=network, copies=(algorithm.members or 1) > 1, **vars(settings.auto))
    return dataclasses.replace(algorithm, body=body)


def _with_inputs(network: keras.Model, shape: tuple[int, ...]) -> keras.Model:
    """Returns the network, or a copy with inputs of a sequential one that has none."""
    if not isinstance(network, keras.Sequential) or network.built:
        return network
    # The user's own layers are not built, so that they can be used for other shapes later.
    layers = [it if it.built else type(it).from_config(it.get_config()) for it in network.layers]
    network = keras.Sequential(layers, name=network.name)
    network.build((None, *shape))
    return network


def _copied(network: keras.Model, seeds: Seeds | None = None) -> keras.Model:
    """Returns a copy; `seeds` give new weights to all layers with trainable weights."""

    def copied(layer: Any) -> Any:
        config = layer.get_config()
        return type(layer).from_config(config if seeds is None else _reseeded(config, seeds))

    inputs_of(network)
    copy = keras.models.clone_model(network, clone_function=copied)
    for old, new in zip(all_layers(network), all_layers(copy), strict=True):
        if old.weights and (seeds is None or not old.trainable_weights):
            new.set_weights(old.get_weights())
            if hasattr(new, "finalize_state"):
                new.finalize_state()  # `Normalization` derives values from its weights.
    return copy


def _reseeded(config: Any, seeds: Seeds) -> Any:
    """Returns a config with new seeds, so that copies start from different weights."""
    if isinstance(config, (list, tuple)):
        return type(config)(_reseeded(one, seeds) for one in config)
    if not isinstance(config, dict):
        return config
    changed = {name: _reseeded(one, seeds) for name, one in config.items()}
    if isinstance(changed.get("seed"), int):
        changed["seed"] = seeds.next()
    return changed


def with_end(network: keras.Model, num_outputs: int, output: str, seed: int | None) -> keras.Model:
    """Returns a network with outputs of the kind `"probability"`, `"cost"` or `"features"`."""
    tensor = output_of(network)
    kind = network_kind(tensor, num_outputs)
    rank, one_unit = len(tensor.shape), kind == "probability" and tensor.shape[-1] == 1
    if kind == output and rank == 2 and not one_unit:
        return network
    if kind == "cost" or (output == "cost" and kind != "features"):
        ends = "costs by a CostOutput" if output == "cost" else "logits or probabilities"
        raise ValueError(
            f"The network {network.name!r} outputs {kind!r}, but the algorithm needs {output!r}. "
            f"End it in features, or in {ends}."
        )
    while output == "features" and kind != "features":
        layer, sources = layer_of(tensor), sources_of(tensor)
        if isinstance(layer, keras.Model) or len(sources) != 1:
            raise ValueError(
                f"The network {network.name!r} ends in {type(layer).__name__} {layer.name!r}, "
                "whose inputs cannot be used as features. Pass it without its output layer."
            )
        (tensor,) = sources
        kind = network_kind(tensor, num_outputs)
    pools = {3: keras.layers.GlobalAveragePooling1D, 4: keras.layers.GlobalAveragePooling2D}
    if kind == "features" and len(tensor.shape) in pools:
        tensor = pools[len(tensor.shape)](name="mean")(tensor)
    if output == "features":
        end = keras.layers.Identity(name="features")(tensor)
    elif kind == "features":
        initializer = keras.initializers.GlorotUniform(seed)
        end = output_layer(num_outputs, output, kernel_initializer=initializer)(tensor)
    else:
        end = ClassProbabilities(kind == "logits", name="probability")(tensor)
    return keras.Model(inputs_of(network), end, name=network.name)


def network_kind(tensor: Tensor, num_outputs: int) -> str:
    """Returns the kind of an output: `"probability"`, `"cost"`, `"logits"` or `"features"`."""
    kind, words = describe_tensor(tensor)
    layer = layer_of(tensor)
    while isinstance(layer, keras.Model) and has_structure(layer):
        layer = layer_of(output_of(layer))
    activation = getattr(layer, "activation", None)
    width, alone = tensor.shape[-1], num_outputs == 2 and tensor.shape[-1] == 1
    if kind in ("probability", "cost"):
        if width != num_outputs and not (alone and kind == "probability"):
            raise ValueError(
                f"The network ends in {words} with {width} outputs; it needs one for each of "
                f"{num_outputs} classes."
            )
        return kind
    linear = isinstance(layer, keras.layers.Dense) and activation is keras.activations.linear
    return "logits" if linear and (width == num_outputs or alone) else "features"
