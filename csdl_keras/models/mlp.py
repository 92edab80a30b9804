"""The fully-connected network of the paper."""

from collections.abc import Sequence
from typing import Any

import keras

from csdl_keras._utils.seeds import Seeds
from csdl_keras.models.heads import check_input_shape, check_outputs, check_sizes, output_layer


def mlp(
    input_shape: Sequence[int],
    num_classes: int,
    hidden_units: Sequence[int] = (500, 500, 500),
    activation: Any = "sigmoid",
    output: str = "probability",
    kernel_initializer: Any = None,
    name: str = "mlp",
    seed: int | None = None,
) -> keras.Model:
    """Builds a fully-connected network for class probabilities or costs.

    `phi(x) = s(W_H s(... s(W_1 x + b_1) ...) + b_H)`, then a softmax layer
    (equation 1 of the paper) or a linear one that estimates the cost of each
    decision (equation 5). Images are flattened inside.

    Args:
        input_shape: shape of an input without the batch, such as `(28, 28, 1)`
            or `(20,)`.
        num_classes: number of classes, at least 2.
        hidden_units: units of each hidden layer. Defaults to three layers of 500.
        activation: activation of the hidden layers. Defaults to `"sigmoid"`,
            the paper's.
        output: `"probability"` (default) or `"cost"`.
        kernel_initializer: initializer of the hidden layers. `None` (default)
            is uniform in `±4 sqrt(6 / (in + out))` for the logistic function, four times
            Glorot's range, which keeps deep logistic networks trainable, and
            Glorot's own otherwise.
        name: name of the model.
        seed: seed of the initial weights; `None` (default) follows
            `keras.utils.set_random_seed`.

    Returns:
        A functional `keras.Model`, `(batch, *input_shape)` to
        `(batch, num_classes)`, not compiled.

    Raises:
        ValueError: if an argument is out of range.

    References:
        - [Glorot, Bengio: Understanding the difficulty of training deep
          feedforward neural networks, AISTATS 2010](https://proceedings.mlr.press/v9/glorot10a.html)

    Example:

    >>> model = mlp((28, 28, 1), num_classes=10, hidden_units=(50,), output="cost")
    >>> model.output_shape
    (None, 10)
    """
    input_shape = check_input_shape(input_shape)
    units_of_layers = check_sizes("hidden_units", hidden_units)
    check_outputs(num_classes, output)
    seeds = Seeds(seed)
    if kernel_initializer is None:
        # VarianceScaling's uniform limit is sqrt(3 scale / fan_avg): 4 x Glorot's at scale 16.
        logistic = keras.activations.get(activation) is keras.activations.sigmoid
        scale = 16.0 if logistic else 1.0
        kernel_initializer = keras.initializers.VarianceScaling(scale, "fan_avg", "uniform")
    inputs = x = keras.Input(input_shape)
    if len(input_shape) > 1:
        x = keras.layers.Flatten(name="flatten")(x)
    for index, units in enumerate(units_of_layers, start=1):
        x = keras.layers.Dense(
            units,
            activation=activation,
            kernel_initializer=seeds.initializer(kernel_initializer),
            name=f"hidden_{index}",
        )(x)
    head = output_layer(num_classes, output, kernel_initializer=seeds.initializer("glorot_uniform"))
    return keras.Model(inputs, head(x), name=name)
