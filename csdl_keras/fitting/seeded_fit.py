"""The one way in which the package calls `fit`."""

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
from csdl_keras.fitting.shuffled_batches import SeededEpochs, ShuffledBatches

#: Most steps of an execution. More gain next to nothing, and Ctrl-C and callbacks wait for the
#: last of them.
MOST = 32

#: Least time from one writing of the state to the next: what a kill may cost beside the epoch
#: under way. Writing takes some 20 ms, as long as an epoch of a small network.
SECONDS = 2.0


def executed_steps(examples: int, batch_size: int, steps_per_epoch: int | None = None) -> int:
    """Returns `steps_per_execution` of `keras.Model.compile` for an epoch over arrays.

    The time that a step of a small network takes beside arithmetic shrinks to a third; its
    results are the same. PyTorch's `fit` supports only 1.
    """
    if keras.backend.backend() == "torch":
        return 1
    return min(MOST, steps_per_epoch or math.ceil(examples / batch_size))


def follows_seed(x: Any, arguments: Mapping[str, Any]) -> bool:
    """Tells whether `seeded_fit` shuffles `x`; a dataset keeps its order, as does `shuffle=False`.

    Args:
        x: inputs.
        arguments: of `fit`.
    """
    return hasattr(x, "__array__") and bool(arguments.get("shuffle", True))


def seeded_fit(
    model: keras.Model,
    x: Any,
    y: Any,
    seed: int | None,
    unfinished: pathlib.Path | None = None,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    remembering: Sequence[keras.callbacks.Callback] = (),
    what: str | None = None,
    may_diverge: bool = False,
    sample_weight: ArrayLike | None = None,
    batch_size: int | None = None,
    steps_per_epoch: int | None = None,
    validation_data: Any = None,
    **fit_arguments: Any,
) -> keras.callbacks.History:
    """Calls `model.fit` so that batches and masks follow from a seed, the epoch and the step.

    Args:
        model: compiled and built.
        x: inputs; a dataset keeps its own order, whatever the seed.
        y: targets, or `None`.
        seed: `None` leaves `fit` to shuffle.
        unfinished: folder in which the state is kept after epochs, and from which training
            goes on; damaged files are replaced. `None` (default) keeps nothing.
        callbacks: as in `fit`.
        remembering: more callbacks, which may be of the package's own and remember something,
            see `Resume`.
        what: name of what is trained, for the error if training diverges.
        may_diverge: whether training that diverges goes on instead of raising.
            Defaults to `False`.
        sample_weight, batch_size, steps_per_epoch, validation_data: as in `fit`.
        **fit_arguments: other arguments of `fit`.

    Returns:
        The history of all epochs.

    Raises:
        DivergedError: if training diverges, unless it may.
    """
    callbacks = [*callbacks, *remembering]
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
        callbacks.append(OwnResume(unfinished / "epochs.npz", batches, remembering, SECONDS))
    if data is not batches:
        begin = keras.callbacks.LambdaCallback(on_epoch_begin=lambda *_: batches.on_epoch_begin())
        callbacks.append(begin)
    if validation_data is not None:
        validation_data = in_order(validation_data)
    use_looped_steps(model)
    # The batches are shuffled already.
    fit_arguments["shuffle"] = False
    return model.fit(data, validation_data=validation_data, callbacks=callbacks, **fit_arguments)
