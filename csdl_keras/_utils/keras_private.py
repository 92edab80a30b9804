"""Private parts of Keras 3: the graph of a functional model, and the first epoch of a `fit`.

Keras has no public methods for the graph (keras-team/keras, issues 20267 and 23238), and its own
`BackupAndRestore` begins later epochs by `_initial_epoch` (keras/src/callbacks).
"""

from collections.abc import Iterator
from typing import Any

import keras

from csdl_keras._utils.types import Tensor


def layer_of(tensor: Tensor) -> Any:
    """Returns the layer or operation that made a symbolic tensor."""
    return tensor._keras_history.operation


def sources_of(tensor: Tensor) -> list[Tensor]:
    """Returns the symbolic tensors from which a layer made this one."""
    history = tensor._keras_history
    return history.operation._inbound_nodes[history.node_index].input_tensors


def inner_output(tensor: Tensor) -> Tensor:
    """Returns the output of a nested model that a symbolic tensor outside represents."""
    history = tensor._keras_history
    return history.operation.outputs[history.tensor_index]


def all_layers(model: keras.layers.Layer) -> Iterator[keras.layers.Layer]:
    """Yields a layer or model and all layers nested in it."""
    yield from model._flatten_layers()


def begin_at(model: keras.Model, epoch: int | None) -> None:
    """Makes the `fit` that is starting begin at an epoch; `None` undoes this."""
    model._initial_epoch = epoch
