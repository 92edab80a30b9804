"""Greedy layer-wise pre-training, the first stage of Algorithm 1 of the paper."""

import functools
import itertools
import pathlib
import warnings
from collections.abc import Sequence
from typing import Any

import keras

from csdl_keras._utils.checks import (
    LARGEST_INTEGER,
    check_bool,
    check_callbacks,
    check_choice,
    check_integer,
    check_number,
    check_optimizer,
    check_type,
    check_verbose,
)
from csdl_keras._utils.seeds import Seeds
from csdl_keras.costs import check_cost_matrix
from csdl_keras.fitting.observers import check_observers
from csdl_keras.fitting.stage_cache import StageCache, check_cache
from csdl_keras.layers import CAE
from csdl_keras.pretraining.data import UNBOUNDED_HINT, PretrainingData
from csdl_keras.pretraining.hidden_layers import below_layer, hidden_layers
from csdl_keras.pretraining.layer_cache import LayerCache, describe_optimizer
from csdl_keras.pretraining.layer_fit import Stage

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
    steps_per_execution: int | None = None,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    verbose: Any = "auto",
    cost_matrix: Any = None,
    cost_scale: float = 1.0,
    cache: StageCache | None = None,
    data_id: str | None = None,
    unlabelled: Any = None,
) -> list[keras.callbacks.History]:
    """Pre-trains the hidden layers of a model, one after the other, as CAEs.

    For each hidden `Dense` layer from the bottom up, a cost-sensitive
    auto-encoder (`CAE`) around that very layer minimises
    `(1 - beta) L_CE + beta L_SOSR` on the clean codes of the layers below; its
    weights are the model's own, not copies. Then train the model as a whole
    with any loss. `beta=0` gives the stacked denoising auto-encoder (SDAE), the
    cost vectors of `costs.zero_one` the error-aware SEAE. The output layer, and
    layers that are not `Dense` or not trainable, are left as they are; a warning names
    hidden layers that are frozen.

    Of arrays, the codes that a layer learns from are computed once and kept, up to 4 GiB;
    beyond, and of datasets, they are computed for each batch, and memory does not grow.

    Weights of decoders, corruption and, for arrays, shuffling follow `seed`: batches and
    masks depend on seed, layer, epoch and step alone. With a seed, each layer begins with
    `keras.utils.set_random_seed`, whether there is a cache or not; without one the global
    state is left to follow its course.

    Args:
        model: a functional or sequential model with at least one hidden `Dense`
            layer whose input is `(batch, features)`.
        x: inputs `(N, ...)` as the model takes them, or a `tf.data.Dataset`
            (or `PyDataset`) of batches `x` or `(x, costs)`, finite or with
            `steps_per_epoch`. What enters a hidden layer must lie in [0, 1] for
            the cross-entropy.
        costs: cost vectors `(N, D)`, or integer labels `(N,)` if there is a
            `cost_matrix`; needed for `beta > 0`, ignored for `beta = 0`. They
            should be about 1: the paper divides by the largest cost, and so
            does `cost_scale=1 / C.max()`.
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
        seed: seed of shuffling, corruption and the weights of decoders; `None`
            (default) follows `keras.utils.set_random_seed`.
        steps_per_epoch: batches an epoch, needed for an infinite dataset.
        steps_per_execution: as in `keras.Model.compile`. `None` (default) is 32, or
            the steps of an epoch, for arrays on TensorFlow and JAX, and 1 elsewhere.
        callbacks: Keras callbacks, given to each layer's fit.
        verbose: as in `keras.Model.fit`, with a heading for each layer.
        cost_matrix: `None` (default), or array-like `(K, K)`, `C[true, decision]`,
            and `costs`, or the second part of a dataset's batches, are integer
            labels.
        cost_scale: factor above 0 by which costs are multiplied. Defaults to 1.
        cache: a `StageCache` in which pre-trained layers are looked up and kept,
            so that models whose lower layers are alike pre-train them once. With
            a folder, a killed run goes on behind its last layer, and for arrays
            in the middle of one, at most two seconds and an epoch before it was
            killed, and ends where it would have. Needs a `seed`, and `callbacks`
            that only observe, see `Trainer`. Activations and layers of your own are
            told by their names, not by their code. `None` (default) keeps nothing.
        data_id: name that tells a dataset from others, needed with a `cache`;
            arrays are told by their contents. A new one finds nothing that was kept
            under another, whatever the data.
        unlabelled: more inputs `(U, ...)`, for `x` in an array, whose costs are
            not known: they are reconstructed like those of `x`, and the part of
            costs is the mean over `x` alone. `None` (default) is none.

    Returns:
        One `keras.callbacks.History` for each trainable hidden layer, with `"loss"` and,
        of those with weight, `"reconstruction_loss"` and `"cost_loss"`.

    Raises:
        ValueError: if an argument is out of range, the model has no trainable hidden
            `Dense` layer, costs are missing or fail their check, values outside [0, 1]
            meet the cross-entropy, or a cache comes without seed or with callbacks that
            may change training. All data is checked before training begins.
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
    corruption = check_number("corruption", corruption, 0, 1)
    epochs = check_integer("epochs", epochs)
    batch_size = check_integer("batch_size", batch_size, high=LARGEST_INTEGER)
    if steps_per_epoch is not None:
        steps_per_epoch = check_integer("steps_per_epoch", steps_per_epoch, high=LARGEST_INTEGER)
    if steps_per_execution is not None:
        steps_per_execution = check_integer("steps_per_execution", steps_per_execution)
    check_bool("tied", tied)
    callbacks, verbose = check_callbacks(callbacks), check_verbose(verbose)
    cost_scale = check_number("cost_scale", cost_scale, 0, exclude_low=True)
    check_choice("reconstruction", reconstruction, ("cross_entropy", "squared_error"))
    bounded = reconstruction == "cross_entropy"
    optimizer = check_optimizer(optimizer)
    seeds = Seeds(seed, "pretrain")
    if check_cache(cache, seed) is not None:
        check_observers(callbacks, "a `cache`")
    if data_id is not None:
        check_type("data_id", data_id, str, "a string or None")
    layers = _trainable(hidden_layers(model))
    if bounded:
        _check_bounded(layers)
    if cost_matrix is not None:
        cost_matrix = check_cost_matrix(cost_matrix)
    matrix = cost_matrix if beta > 0 else None
    data = PretrainingData(
        model, x, costs, beta > 0, matrix, batch_size, steps_per_epoch, unlabelled
    )
    num_decisions = data.check(below_layer(model, layers[0]), bounded) or model.output_shape[-1]
    for lower, layer in itertools.pairwise(layers):
        if layer.input is not lower.output:  # something between them can leave [0, 1]
            data.check(below_layer(model, layer), bounded)
    kept = None
    if cache is not None:
        choices = {
            "beta": beta,
            "corruption": corruption,
            "epochs": epochs,
            "batch_size": batch_size if data.is_array else None,
            "optimizer": describe_optimizer(optimizer),
            "reconstruction": reconstruction,
            "tied": tied,
            "cost_scale": cost_scale if beta > 0 else None,
        }
        kept = LayerCache(cache, data, data_id, choices)

    def fit(
        stage: Stage, below: keras.Model | None, unfinished: pathlib.Path | None = None
    ) -> keras.callbacks.History:
        if stage.cae.seed is not None:
            keras.utils.set_random_seed(stage.cae.seed)
        return stage.pretrain(
            **data.fit_arguments(below, bounded),
            optimizer=type(optimizer).from_config(optimizer.get_config()),
            steps_per_execution=steps_per_execution or data.executed_steps,
            seed=stage.cae.seed,
            unfinished=unfinished,
            epochs=epochs,
            callbacks=callbacks,
            verbose=verbose,
        )

    histories = []
    for index, layer in enumerate(layers, start=1):
        if verbose in ("auto", 1, 2):
            sizes = f"{layer.input.shape[-1]} -> {layer.units}"
            place = f"{index} of {len(layers)}"
            print(f"Pre-training {layer.name} ({place}): {sizes} units", flush=True)
        below = below_layer(model, layer)
        cae = CAE(layer, num_decisions, corruption, tied, seed=seeds.next())
        lower = None if data.keeps_codes(below) else below
        run = functools.partial(
            fit, Stage(cae, lower, beta, reconstruction, matrix, cost_scale), below
        )
        histories.append(run() if kept is None else kept.pretrain(cae, below, run))
    return histories


def _trainable(layers: Sequence[keras.layers.Dense]) -> list[keras.layers.Dense]:
    """The layers that are not frozen; warns of those that are, and raises if that is all."""
    frozen = [layer.name for layer in layers if not layer.trainable]
    if len(frozen) == len(layers):
        raise ValueError(
            "Expected a hidden Dense layer to pre-train; received a model in which none is "
            f"trainable, {frozen}. Set `trainable = True` on the model or on such a layer."
        )
    if frozen:
        warnings.warn(
            f"Hidden layers that are not trainable stay as they are: {frozen}.", stacklevel=3
        )
    return [layer for layer in layers if layer.trainable]


def _check_bounded(layers: Sequence[keras.layers.Dense]) -> None:
    """Raises if the codes of a layer below another one can leave [0, 1]."""
    for layer in layers[:-1]:
        if layer.activation not in _BOUNDED:
            raise ValueError(
                "Expected hidden layers whose outputs lie in [0, 1], as the cross-entropy "
                f"demands of the next layer's inputs; received {layer.name!r} with activation "
                f"{layer.activation.__name__!r}. {UNBOUNDED_HINT}"
            )
