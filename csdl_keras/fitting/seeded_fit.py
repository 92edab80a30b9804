"""How many steps of training run without a return to Python."""

import math
import pathlib
from collections.abc import Sequence
from typing import Any

import keras

from csdl_keras.fitting._jax_steps import use_looped_steps
from csdl_keras.fitting._tensorflow_batches import in_order, shuffled
from csdl_keras.fitting.divergence import RaiseOnDivergence
from csdl_keras.fitting.resume import OwnResume
from csdl_keras.fitting.shuffled_batches import SeededEpochs, ShuffledBatches

#: More gain next to nothing, and Ctrl-C and callbacks wait for the last of them.
MOST = 32


def executed_steps(examples: int, batch_size: int, steps_per_epoch: int | None = None) -> int:
    """`steps_per_execution` of `keras.Model.compile` for an epoch over arrays.

    What a step of a small network takes beside arithmetic shrinks to a third; its
    results are the same. PyTorch's `fit` has nothing but 1.
    """
    if keras.backend.backend() == "torch":
        return 1
    return min(MOST, steps_per_epoch or math.ceil(examples / batch_size))


#: Least time from one writing of the state to the next: what a kill may cost beside the epoch
#: under way. Writing takes some 20 ms, as long as an epoch of a small network.
SECONDS = 2.0


def seeded_fit(
    model: keras.Model,
    x: Any,
    y: Any,
    seed: int | None,
    unfinished: pathlib.Path | None = None,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    remembering: Sequence[keras.callbacks.Callback] = (),
    what: str | None = None,
    sample_weight: Any = None,
    batch_size: int | None = None,
    steps_per_epoch: int | None = None,
    validation_data: tuple | None = None,
    **fit_arguments: Any,
) -> keras.callbacks.History:
    """`model.fit`, in which batches and masks follow from a seed, the epoch and the step.

    Args:
        model: compiled and built.
        x: inputs; a dataset comes in its own order, whatever the seed.
        y: targets, or `None`.
        seed: `None` is `model.fit` as it is.
        unfinished: folder in which the state is kept after epochs, and from which it goes
            on; what is damaged there is replaced. `None` (default) keeps nothing.
        callbacks: as in `fit`.
        remembering: more callbacks, which may be of the package's own and remember something,
            see `Resume`.
        what: what is trained, for the error of a training that diverges.
        sample_weight, batch_size, steps_per_epoch, validation_data: as in `fit`.
        **fit_arguments: other arguments of `fit`.

    Returns:
        The history of all epochs.
    """
    callbacks = [*callbacks, *remembering, RaiseOnDivergence(what)]
    if seed is None or not hasattr(x, "__array__"):
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
    last = (
        SeededEpochs(batches)
        if unfinished is None
        else OwnResume(unfinished / "epochs.npz", batches, remembering, SECONDS)
    )
    data = shuffled(batches)
    callbacks = [*callbacks, last]
    if data is not batches:
        begin = keras.callbacks.LambdaCallback(on_epoch_begin=lambda *_: batches.on_epoch_begin())
        callbacks.append(begin)
    if validation_data is not None:
        validation_data = in_order(validation_data)
    use_looped_steps(model)
    return model.fit(
        data, validation_data=validation_data, callbacks=callbacks, shuffle=False, **fit_arguments
    )
