"""Greedy layer-wise pre-training, the first stage of Algorithm 1 of the paper."""

import itertools
from collections.abc import Sequence
from typing import Any

import keras

from csdl_keras._checks import check_choice, check_integer, check_number
from csdl_keras._ops import has_structure, inputs_of
from csdl_keras._pretraining_data import UNBOUNDED_HINT, PretrainingData
from csdl_keras._pretraining_stage import Stage
from csdl_keras._seeds import Seeds
from csdl_keras.layers import CAE

_BOUNDED = (keras.activations.sigmoid, keras.activations.hard_sigmoid, keras.activations.softmax)


def pretrain(
    model: keras.Model,
    x: Any,
    costs: Any = None,
    beta: float = 0.0,
    corruption: float = 0.25,
    epochs: int = 15,
    batch_size: int = 100,
    optimizer: Any = "adam",
    reconstruction: str = "cross_entropy",
    tied: bool = False,
    seed: int | None = None,
    steps_per_epoch: int | None = None,
    steps_per_execution: int = 1,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    verbose: Any = "auto",
) -> list[keras.callbacks.History]:
    """Pre-trains the hidden layers of a model, one after the other, as CAEs.

    For each hidden `Dense` layer from the bottom up, a cost-sensitive
    auto-encoder (`CAE`) around that very layer minimises
    `(1 - beta) L_CE + beta L_SOSR` on the clean codes of the layers below; its
    weights are the model's own, not copies. Then train the model as a whole
    with any loss. `beta=0` gives the stacked denoising auto-encoder (SDAE), the
    cost vectors of `costs.zero_one` the error-aware SEAE. The output layer, and
    layers that are not `Dense`, are left as they are.

    Weights of decoders and corruption follow `seed`, shuffling
    `keras.utils.set_random_seed`.

    Args:
        model: a functional or sequential model with at least one hidden `Dense`
            layer whose input is `(batch, features)`.
        x: inputs `(N, ...)` as the model takes them, or a `tf.data.Dataset`
            (or `PyDataset`) of batches `x` or `(x, costs)`, finite or with
            `steps_per_epoch`. What enters a hidden layer must lie in [0, 1] for
            the cross-entropy.
        costs: cost vectors `(N, D)`, scaled to about 1 (the paper divides by
            the largest cost); needed for `beta > 0`, ignored for `beta = 0`.
        beta: balance in [0, 1] between reconstruction (0) and costs (1).
            Defaults to 0.
        corruption: probability in [0, 1] of zeroing an input. Defaults to 0.25.
        epochs: epochs for each layer. Defaults to 15.
        batch_size: examples a batch, for arrays. Defaults to 100.
        optimizer: name, config or instance; each layer gets a new copy.
            Defaults to `"adam"`.
        reconstruction: `"cross_entropy"` (default) for values in [0, 1], or
            `"squared_error"` for any finite values. Both are sums over inputs.
        tied: whether decoders use the transposed weights. Defaults to False.
        seed: seed of corruption and of the weights of decoders; `None` (default)
            follows `keras.utils.set_random_seed`.
        steps_per_epoch: batches an epoch, needed for an infinite dataset.
        steps_per_execution: as in `keras.Model.compile`. Defaults to 1.
        callbacks: Keras callbacks, given to each layer's fit.
        verbose: as in `keras.Model.fit`, with a heading for each layer.

    Returns:
        One `keras.callbacks.History` for each hidden layer, with `"loss"` and,
        of those with weight, `"reconstruction_loss"` and `"cost_loss"`.

    Raises:
        ValueError: if an argument is out of range, the model has no hidden
            `Dense` layer, costs are missing or fail their check, or values
            outside [0, 1] meet the cross-entropy. All data is checked before
            training begins.

    References:
        - Chung, Lin, Yang, IJCAI 2016, Algorithm 1
        - [Vincent et al.: Stacked Denoising Autoencoders, JMLR 2010](https://jmlr.org/papers/v11/vincent10a.html)

    Example:

    >>> import csdl_keras
    >>> import numpy as np
    >>> x = np.random.default_rng(0).uniform(size=(64, 6))
    >>> model = csdl_keras.models.mlp((6,), num_classes=3, hidden_units=(5, 4))
    >>> histories = pretrain(model, x, epochs=2, verbose=0)
    >>> [len(history.history["loss"]) for history in histories]
    [2, 2]
    """
    beta = check_number("beta", beta, 0, 1)
    corruption = check_number("corruption", corruption, 0, 1)
    check_integer("epochs", epochs)
    check_integer("batch_size", batch_size)
    check_choice("reconstruction", reconstruction, ("cross_entropy", "squared_error"))
    bounded = reconstruction == "cross_entropy"
    optimizer = keras.optimizers.get(optimizer)
    seeds = Seeds(seed, "pretrain")
    layers = hidden_layers(model)
    if bounded:
        _check_bounded(layers)
    data = PretrainingData(x, costs, beta > 0, batch_size, steps_per_epoch)
    num_decisions = data.check(_below(model, layers[0]), bounded) or model.output_shape[-1]
    for lower, layer in itertools.pairwise(layers):
        if layer.input is not lower.output:  # something between them can leave [0, 1]
            data.check(_below(model, layer), bounded)
    histories = []
    for index, layer in enumerate(layers, start=1):
        if verbose in ("auto", 1, 2):
            sizes = f"{layer.input.shape[-1]} -> {layer.units}"
            print(
                f"Pre-training {layer.name} ({index} of {len(layers)}): {sizes} units", flush=True
            )
        below = _below(model, layer)
        cae = CAE(layer, num_decisions, corruption, tied, seed=seeds.next())
        stage = Stage(cae, None if data.is_array else below, beta, reconstruction)
        histories.append(
            stage.pretrain(
                **data.fit_arguments(below, bounded),
                optimizer=type(optimizer).from_config(optimizer.get_config()),
                steps_per_execution=steps_per_execution,
                epochs=epochs,
                callbacks=list(callbacks),
                verbose=verbose,
            )
        )
    return histories


def hidden_layers(model: keras.Model) -> list[keras.layers.Dense]:
    """The hidden `Dense` layers of a model, from the bottom up.

    Args:
        model: a functional or sequential model; its last `Dense` layer is the
            output layer.

    Returns:
        Every other `Dense` layer.

    Raises:
        ValueError: if there is none, or one whose input is not
            `(batch, features)`, or the model is not functional or sequential.

    Example:

    >>> import csdl_keras
    >>> model = csdl_keras.models.mlp((6,), num_classes=3, hidden_units=(5, 4))
    >>> [layer.name for layer in hidden_layers(model)]
    ['hidden_1', 'hidden_2']
    """
    if not has_structure(model):
        raise ValueError(
            "Expected `model` to be a functional or sequential keras.Model whose inputs are "
            f"known; received {type(model).__name__}."
        )
    # The last Dense layer is the output layer, whatever stands behind it: a softmax, a decision.
    layers = [layer for layer in model.layers if isinstance(layer, keras.layers.Dense)][:-1]
    if not layers:
        raise ValueError(
            f"Expected a model with hidden keras.layers.Dense layers; received {model.name!r} "
            f"with {[type(layer).__name__ for layer in model.layers]}. The last Dense layer "
            "counts as the output layer; layers inside nested models are not looked at."
        )
    for layer in layers:
        if len(layer.input.shape) != 2:
            raise ValueError(
                "Expected hidden Dense layers with inputs (batch, features); received "
                f"{layer.name!r} with {tuple(layer.input.shape)}."
            )
    return layers


def _below(model: keras.Model, layer: keras.layers.Layer) -> keras.Model | None:
    """The part of `model` that feeds `layer`; None if that is the model's own input."""
    if layer.input is model.inputs[0]:
        return None
    return keras.Model(inputs_of(model), layer.input)


def _check_bounded(layers: Sequence[keras.layers.Dense]) -> None:
    """Raises if the codes of a layer below another one can leave [0, 1]."""
    for layer in layers[:-1]:
        if layer.activation not in _BOUNDED:
            raise ValueError(
                "Expected hidden layers whose outputs lie in [0, 1], as the cross-entropy "
                f"demands of the next layer's inputs; received {layer.name!r} with activation "
                f"{layer.activation.__name__!r}. {UNBOUNDED_HINT}"
            )
