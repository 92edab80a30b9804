"""Calls `fit` with batches that follow from a seed; all training of the package goes through it."""

import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import keras

from csdl_keras._utils.types import ArrayLike
from csdl_keras.fitting._jax_steps import use_looped_steps
from csdl_keras.fitting._tensorflow_batches import in_order, shuffled
from csdl_keras.fitting.divergence import RaiseOnDivergence
from csdl_keras.fitting.resume import OwnResume
from csdl_keras.fitting.shuffled_batches import Arrays, SeededEpochs, ShuffledBatches

#: Largest number of steps in an execution. More are hardly faster, and Ctrl-C and callbacks have
#: to wait for the last step.
MOST = 32

#: Least seconds between two saves of the state, which a killed process loses in addition to the
#: current epoch. A save takes about 20 ms, as long as an epoch of a small network, and more than
#: a second with the 20 million weights of the paper's network.
SECONDS = 30.0


def executed_steps(examples: int, batch_size: int, steps_per_epoch: int | None = None) -> int:
    """Returns `steps_per_execution` of `keras.Model.compile` for an epoch over arrays.

    It cuts the overhead of a small network's steps to a third and leaves results the same.
    PyTorch's `fit` supports only 1.
    """
    if keras.backend.backend() == "torch":
        return 1
    return min(MOST, steps_per_epoch or math.ceil(examples / batch_size))


def follows_seed(x: object, arguments: Mapping[str, object]) -> bool:
    """Returns True if `seeded_fit` shuffles `x`: an array, unless `arguments` turn shuffling off.

    Args:
        x: the inputs; datasets keep their own order.
        arguments: the arguments of `fit`.
    """
    return hasattr(x, "__array__") and bool(arguments.get("shuffle", True))


def seeded_fit(
    model: keras.Model,
    x: Any,
    y: Arrays | None,
    seed: int | None,
    unfinished: pathlib.Path | None = None,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    stateful: Sequence[keras.callbacks.Callback] = (),
    what: str | None = None,
    may_diverge: bool = False,
    sample_weight: ArrayLike | None = None,
    batch_size: int | None = None,
    steps_per_epoch: int | None = None,
    validation_data: Any = None,
    **fit_arguments: Any,
) -> keras.callbacks.History:
    """Calls `model.fit` such that batches and masks depend only on seed, epoch and step.

    Args:
        model: a model that is compiled and built.
        x: the inputs. A dataset keeps its own order, whatever the seed.
        y: the targets, or `None`.
        seed: seed of batches and masks. `None` leaves shuffling to `fit`.
        unfinished: folder where the state is saved between epochs and from which training
            continues; damaged files are replaced. `None` (default) saves nothing.
        callbacks: callbacks that need no saved state, or are Keras' own.
        stateful: more callbacks, whose state `Resume` saves too.
        what: name of the training in the error if it diverges.
        may_diverge: if `True`, training that diverges continues. Defaults to `False`.
        sample_weight, batch_size, steps_per_epoch, validation_data: as in `fit`.
        **fit_arguments: other arguments of `fit`.

    Returns:
        The history of all epochs.

    Raises:
        DivergedError: if training diverges and `may_diverge` is `False`.
    """
    callbacks = [*callbacks, *stateful]
    if not may_diverge:
        callbacks.append(RaiseOnDivergence(what))
    if seed is None or not follows_seed(x, fit_arguments):
        return model.fit(
            x,
            y,
            sample_weight=sample_weight,
            batch_size=batch_size,
            steps_per_epoch=steps_per_epoch,
            validation_data=validation_data,
            callbacks=callbacks,
            **fit_arguments,
        )
    batches = ShuffledBatches(x, y, sample_weight, batch_size or 32, seed, steps_per_epoch)
    data = shuffled(batches)
    if unfinished is None:
        callbacks.append(SeededEpochs(batches))
    else:
        callbacks.append(OwnResume(unfinished / "epochs.npz", batches, stateful, SECONDS))
    if data is not batches:
        begin = keras.callbacks.LambdaCallback(on_epoch_begin=lambda *_: batches.on_epoch_begin())
        callbacks.append(begin)
    if validation_data is not None:
        validation_data = in_order(validation_data)
    use_looped_steps(model)
    fit_arguments["shuffle"] = False
    return model.fit(data, validation_data=validation_data, callbacks=callbacks, **fit_arguments)
