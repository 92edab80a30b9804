"""The fully connected network of the paper."""

from collections.abc import Callable, Sequence

import keras

from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.types import Tensor
from csdl_keras.models.heads import check_output_layer, with_output_layer


def mlp(
    input_shape: Sequence[int],
    num_classes: int,
    hidden_units: Sequence[int] = (500, 500, 500),
    activation: str | Callable[[Tensor], Tensor] = "sigmoid",
    output: str = "probability",
    name: str = "mlp",
    seed: int | None = None,
) -> keras.Model:
    """Builds a fully connected network for class probabilities or costs.

    The hidden layers compute `phi(x) = s(W_H s(... s(W_1 x + b_1) ...) + b_H)`. A softmax layer
    follows (equation 1 of the paper), or a linear one that estimates costs (equation 5).

    Args:
        input_shape: shape of an input without the batch; images are flattened.
        num_classes: number of classes, at least 2.
        hidden_units: units of each hidden layer. Defaults to three layers of 500.
        activation: activation of the hidden layers. Defaults to the paper's `"sigmoid"`. Weights
            start from Glorot's uniform distribution, with four times its range for `"sigmoid"`.
        output: `"probability"` (default) or `"cost"`.
        name: name of the model.
        seed: seed of weights and of all random layers; `None` (default) follows Keras' own.

    Returns:
        A functional `keras.Model`, `(batch, *input_shape)` to `(batch, num_classes)`, not compiled.

    Example:

    >>> model = mlp((28, 28, 1), num_classes=10, hidden_units=(50,), output="cost")
    >>> model.output_shape
    (None, 10)
    """
    check_output_layer(num_classes, output)
    seeds = Seeds(seed)
    # VarianceScaling's uniform limit is sqrt(3 scale / fan_avg): 4 x Glorot's at scale 16.
    logistic = keras.activations.get(activation) is keras.activations.sigmoid
    scale = 16.0 if logistic else 1.0
    kernel_initializer = keras.initializers.VarianceScaling(scale, "fan_avg", "uniform")
    inputs = x = keras.Input(input_shape)
    if len(x.shape) > 2:
        x = keras.layers.Flatten(name="flatten")(x)
    for index, units in enumerate(hidden_units, start=1):
        x = keras.layers.Dense(
            units,
            activation=activation,
            kernel_initializer=seeds.initializer(kernel_initializer),
            name=f"hidden_{index}",
        )(x)
    return with_output_layer(inputs, x, num_classes, output, seeds, name)
