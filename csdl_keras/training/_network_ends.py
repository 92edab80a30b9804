"""Gives a network the outputs that an algorithm trains."""

import keras

from csdl_keras._utils.keras_graph import layer_of, sources_of
from csdl_keras._utils.structure import has_structure, inputs_of, output_of
from csdl_keras._utils.types import Tensor
from csdl_keras.layers import ClassProbabilities
from csdl_keras.models.heads import output_layer
from csdl_keras.prediction.kind import check_loss, describe_tensor


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
