"""Auxiliary outputs that estimate costs from every hidden layer (AuxCST)."""

from collections.abc import Callable
from typing import Any

import keras

from csdl_keras._utils.checks import check_integer, check_number
from csdl_keras._utils.keras_private import layer_of, sources_of
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.structure import inputs_of, output_of
from csdl_keras._utils.types import ArrayLike, Tensor
from csdl_keras.layers import CostOutput


@keras.saving.register_keras_serializable(package="csdl_keras")
class AuxiliaryCostModel(keras.Model):
    """The model that `auxiliary_costs` returns, with outputs `"output"`, `"auxiliary_1"`, …"""

    def losses_and_weights(
        self,
        loss: str | keras.losses.Loss,
        auxiliary_loss: Callable[[], keras.losses.Loss],
        alpha: float = 1.0,
    ) -> dict[str, Any]:
        """Returns the arguments `loss` and `loss_weights` of `compile`.

        Args:
            loss: loss of the model's own output.
            auxiliary_loss: function that returns an auxiliary loss, e.g. `lambda: SOSRLoss(C)`.
            alpha: weight of each auxiliary loss, above 0. Defaults to 1.
        """
        check_number("alpha", alpha, 0, exclude_low=True)
        names = [name for name in self.output if name != "output"]
        return {
            "loss": {"output": loss, **{name: auxiliary_loss() for name in names}},
            "loss_weights": {"output": 1.0, **dict.fromkeys(names, alpha)},
        }

    def targets(self, y: ArrayLike) -> dict[str, ArrayLike]:
        """Returns `y` for each output, for `fit` and `evaluate`."""
        return dict.fromkeys(self.output, y)


def auxiliary_costs(
    model: keras.Model, num_decisions: int, seed: int | None = None
) -> AuxiliaryCostModel:
    """Adds an auxiliary output for costs to every layer with a kernel except the last.

    Training minimises `L = L(out) + alpha sum_i L_cost(aux_i)`. Prediction does not need these
    outputs: `model` shares its layers, so it is trained as well.

    Args:
        model: any functional or sequential model with one output.
        num_decisions: `D`, the length of a cost vector.
        seed: seed of the new weights; `None` (default) follows Keras' own.

    Returns:
        A functional `AuxiliaryCostModel`, not compiled, whose outputs are `"output"`, the model's
        own, and `"auxiliary_1"`, `"auxiliary_2"`, …, each `(batch, D)`.

    References:
        - [Chung, Yang, Lin: Cost-sensitive deep learning with layer-wise cost
          estimation, TAAI 2020](https://arxiv.org/abs/1611.05134)

    Example:

    >>> import numpy as np
    >>> import csdl_keras
    >>> C, y = 1 - np.eye(3), np.arange(12) % 3
    >>> model = csdl_keras.models.mlp((4,), 3, (6, 5), output="cost")
    >>> training = auxiliary_costs(model, num_decisions=3)
    >>> loss = lambda: csdl_keras.SOSRLoss(C)
    >>> training.compile("adam", **training.losses_and_weights(loss(), loss, alpha=0.5))
    >>> _ = training.fit(np.ones((12, 4)), training.targets(y), verbose=0)
    >>> csdl_keras.decide(model, np.ones((2, 4))).shape
    (2,)
    """
    num_decisions = check_integer("num_decisions", num_decisions)
    inputs, output = inputs_of(model), output_of(model)
    weights = [(layer, weight) for layer in model.layers for weight in layer.trainable_weights]
    trained = [*dict.fromkeys(layer for layer, weight in weights if len(weight.shape) > 1)][:-1]
    if not trained:
        raise ValueError(f"{model.name!r} has no trainable hidden layers. Make one trainable.")
    seeds = Seeds(seed)
    outputs = {"output": output}
    for index, layer in enumerate(trained, start=1):
        features = _output_in(model, layer)
        if len(features.shape) > 2:
            features = keras.layers.Flatten(name=f"auxiliary_{index}_features")(features)
        outputs[f"auxiliary_{index}"] = CostOutput(
            num_decisions,
            kernel_initializer=seeds.initializer("glorot_uniform"),
            name=f"auxiliary_{index}",
        )(features)
    return AuxiliaryCostModel(inputs, outputs, name=f"{model.name}_auxiliary")


def _output_in(model: keras.Model, layer: keras.layers.Layer) -> Tensor:
    """Returns a layer's output in this model, since the layer may be part of several models."""
    waiting, seen = list(model.outputs), {id(end) for end in model.outputs}
    for tensor in waiting:  # The list grows towards the inputs.
        if layer_of(tensor) is layer:
            return tensor
        new = [source for source in sources_of(tensor) if id(source) not in seen]
        seen.update(map(id, new))
        waiting += new
    raise ValueError(f"The output of {model.name!r} does not depend on {layer.name!r}.")
