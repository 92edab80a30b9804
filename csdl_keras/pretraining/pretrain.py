"""Greedy layer-wise pre-training, the first stage of Algorithm 1 of the paper."""

import functools
import itertools
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import keras
import numpy as np

from csdl_keras._utils.checks import check_callbacks, check_choice, check_integer, check_number
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.types import ArrayLike, Verbose
from csdl_keras.costs.checks import check_cost_matrix
from csdl_keras.fitting.cache import StageCache, check_cache, describe, environment, is_kept
from csdl_keras.fitting.fit import check_observers, executed_steps
from csdl_keras.layers import CAE
from csdl_keras.pretraining.data import UNBOUNDED_HINT, PretrainingData
from csdl_keras.pretraining.hidden_layers import below_layer, hidden_layers
from csdl_keras.pretraining.layer_fit import LayerFit

_BOUNDED = (keras.activations.sigmoid, keras.activations.hard_sigmoid, keras.activations.softmax)


def pretrain(
    model: keras.Model,
    x: ArrayLike | Iterable,
    costs: ArrayLike | None = None,
    beta: float = 0.0,
    corruption: float = 0.25,
    epochs: int = 15,
    batch_size: int = 100,
    optimizer: str | dict | keras.optimizers.Optimizer = "adam",
    reconstruction: str = "cross_entropy",
    tied: bool = False,
    seed: int | None = None,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    verbose: Verbose = "auto",
    cost_matrix: ArrayLike | None = None,
    cost_scale: float = 1.0,
    cache: StageCache | None = None,
    unlabelled: ArrayLike | None = None,
    binary_costs: bool = False,
) -> list[keras.callbacks.History]:
    """Pre-trains the hidden layers of a model, one after the other, as CAEs.

    For each hidden `Dense` layer from the bottom up, a cost-sensitive auto-encoder (`CAE`)
    around that very layer minimises `(1 - beta) L_CE + beta L_SOSR` on the clean codes of the
    layers below. `beta=0` gives the stacked denoising auto-encoder (SDAE), the cost vectors of
    `costs.zero_one` the error-aware SEAE. Layers that are not trainable stay as they are.

    Args:
        model: a functional or sequential model with hidden `Dense` layers.
        x: inputs `(N, ...)`, or a finite `tf.data.Dataset` or a `PyDataset` of batches `x` or
            `(x, costs)`. For the cross-entropy, inputs of hidden layers must lie in [0, 1].
        costs: cost vectors `(N, D)`, or integer labels `(N,)` with a `cost_matrix`;
            needed for `beta > 0`, ignored for `beta = 0`.
        beta: balance in [0, 1] between reconstruction (0) and costs (1). Defaults to 0.
        corruption: probability in [0, 1] of zeroing an input. Defaults to 0.25.
        epochs: epochs for each layer. Defaults to 15.
        batch_size: examples in a batch of arrays. Defaults to 100.
        optimizer: name, config or instance, of which each layer gets a copy. Defaults to `"adam"`.
        reconstruction: `"cross_entropy"` (default) for values in [0, 1], or
            `"squared_error"` for any finite values. Both are sums over inputs.
        tied: whether decoders use the transposed weights. Defaults to False.
        seed: seed of shuffling, corruption and the weights of decoders; `None`
            (default) follows `keras.utils.set_random_seed`.
        callbacks: Keras callbacks for the fit of each layer.
        verbose: as in `keras.Model.fit`, with a heading for each layer.
        cost_matrix: `(K, K)`, `C[true, decision]`, if costs are labels; or `None` (default).
        cost_scale: factor above 0 by which costs are multiplied. Defaults to 1; the
            paper's is `1 / C.max()`, so that costs are about 1.
        cache: a `StageCache` that keeps pre-trained layers, which models with equal lower
            layers share; needs arrays, a `seed`, and `callbacks` that only observe. With a folder,
            a killed run resumes within a layer. Defaults to `None`.
        unlabelled: if `x` is an array, more inputs `(U, ...)` without costs, which are only
            reconstructed. Defaults to `None`.
        binary_costs: as in `costs.check_cost_vectors`. Defaults to False.

    Returns:
        One `keras.callbacks.History` for each trainable hidden layer, with `"loss"` and, unless
        their weights are 0, `"reconstruction_loss"` and `"cost_loss"`.

    Raises:
        ValueError: if there is no trainable hidden `Dense` layer or an argument fails its check.
        DivergedError: if training diverges.

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
    epochs = check_integer("epochs", epochs)
    batch_size = check_integer("batch_size", batch_size)
    callbacks = check_callbacks(callbacks)
    cost_scale = check_number("cost_scale", cost_scale, 0, exclude_low=True)
    check_choice("reconstruction", reconstruction, ("cross_entropy", "squared_error"))
    bounded = reconstruction == "cross_entropy"
    optimizer = keras.optimizers.get(optimizer)
    seeds = Seeds(seed, "pretrain")
    if check_cache(cache, seed) is not None:
        check_observers(callbacks, "a `cache`")
    layers = [layer for layer in hidden_layers(model) if layer.trainable]
    if not layers:
        raise ValueError("All hidden Dense layers are frozen. Make one trainable.")
    for layer in layers[:-1]:
        if bounded and layer.activation not in _BOUNDED:
            raise ValueError(
                f"{layer.name!r} has the activation {layer.activation.__name__!r}, whose outputs "
                f"may leave [0, 1], where the cross-entropy is defined. {UNBOUNDED_HINT}"
            )
    if cost_matrix is not None:
        cost_matrix = check_cost_matrix(cost_matrix)
    matrix = cost_matrix if beta > 0 else None
    data = PretrainingData(model, x, costs, beta > 0, matrix, batch_size, unlabelled, binary_costs)
    if cache is not None and not data.is_array:
        raise ValueError("`cache` cannot be combined with a dataset. Pass an array.")
    data.check(below_layer(model, layers[0]), bounded)
    for lower, layer in itertools.pairwise(layers):
        if layer.input is not lower.output:  # A layer between them may leave [0, 1].
            data.check(below_layer(model, layer), bounded)
    common = {
        "stage": "pretrained layer",
        "environment": environment(),
        "data": data.fingerprint() if data.is_array else None,
        "beta": beta,
        "corruption": corruption,
        "epochs": epochs,
        "batch_size": batch_size,
        "optimizer": describe(optimizer),
        "reconstruction": reconstruction,
        "tied": tied,
        "cost_scale": cost_scale if beta > 0 else None,
    }

    def fit(
        layer: keras.layers.Dense,
        below: keras.Model | None,
        cae: CAE,
        unfinished: pathlib.Path | None,
    ) -> tuple[list[np.ndarray], dict[str, Any]]:
        lower = None if data.is_array else below  # Codes of arrays are computed once.
        stage = LayerFit(cae, lower, beta, reconstruction, matrix, cost_scale)
        if cae.seed is not None:
            keras.utils.set_random_seed(cae.seed)
        history = stage.pretrain(
            **data.fit_arguments(below, bounded),
            optimizer=type(optimizer).from_config(optimizer.get_config()),
            steps_per_execution=executed_steps(len(data.x), batch_size) if data.is_array else 1,
            seed=cae.seed,
            unfinished=unfinished,
            epochs=epochs,
            callbacks=callbacks,
            verbose=verbose,
        )
        return layer.get_weights(), {"epoch": history.epoch, "history": history.history}

    histories = []
    for index, layer in enumerate(layers, start=1):
        if verbose in ("auto", 1, 2):
            sizes = f"{layer.input.shape[-1]} -> {layer.units}"
            place = f"{index} of {len(layers)}"
            print(f"Pre-training {layer.name} ({place}): {sizes} units", flush=True)
        below = below_layer(model, layer)
        num_decisions = data.num_decisions or model.output_shape[-1]
        cae = CAE(layer, num_decisions, corruption, tied, seed=seeds.next())
        # Networks with equal lower layers share them: a key does not depend on layers above.
        own = {"seed": cae.seed, "below": describe(below), "layer": describe(layer)}
        description = {**common, **own}
        kept = cache if cache is not None and is_kept(description) else StageCache()
        unfinished = kept.unfinished(description)
        found = kept.get(description, functools.partial(fit, layer, below, cae, unfinished))
        layer.set_weights(found.arrays)
        history = keras.callbacks.History()
        history.epoch, history.history = found.info["epoch"], found.info["history"]
        histories.append(history)
    return histories
