"""Training of a trial on batches and masks that follow from a seed."""

import math
from collections.abc import Sequence
from typing import Any

import keras

from csdl_keras.fitting._jax_steps import use_looped_steps
from csdl_keras.fitting._tensorflow_batches import in_order, shuffled
from csdl_keras.fitting.seeded_fit import executed_steps
from csdl_keras.fitting.shuffled_batches import SeededEpochs, ShuffledBatches


def validation_apart(x: Any, y: Any, arguments: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The examples to train on, and `fit`'s arguments without a `validation_split`.

    The last examples are for validation, as in `fit`; taken apart before
    pre-training, which must not see their costs either.
    """
    arguments = dict(arguments)
    share = arguments.pop("validation_split", None)
    if not share or arguments.get("validation_data") is not None:
        return x, y, arguments
    end = math.floor(len(x) * (1.0 - share))
    weight = arguments.pop("sample_weight", None)
    held_out = [x[end:], y[end:]]
    if weight is not None:
        arguments["sample_weight"] = weight[:end]
        held_out.append(weight[end:])
    arguments["validation_data"] = tuple(held_out)
    return x[:end], y[:end], arguments


def trial_fit(
    model: keras.Model, x: Any, y: Any, seed: int | None, arguments: dict[str, Any]
) -> keras.callbacks.History:
    """`model.fit`, in which shuffled batches of arrays follow from the seed and the epoch.

    A trial that diverges has a cost of NaN, by which KerasTuner knows it; no error ends it.
    """
    if seed is None:
        return model.fit(x, y, **arguments)
    keras.utils.set_random_seed(seed)
    if not hasattr(x, "__array__") or not arguments.get("shuffle", True):
        return model.fit(x, y, **arguments)
    names = ("sample_weight", "batch_size", "steps_per_epoch", "callbacks")
    rest = {name: value for name, value in arguments.items() if name not in names}
    weight, size, steps, callbacks = (arguments.get(name) for name in names)
    batches = ShuffledBatches(x, y, weight, size or 32, seed, steps)
    callbacks = [*(callbacks or ()), SeededEpochs(batches)]
    if model.steps_per_execution == 1:
        model.steps_per_execution = executed_steps(batches.num_examples, batches.batch_size, steps)
        use_looped_steps(model)
    if isinstance(rest.get("validation_data"), tuple):
        rest["validation_data"] = in_order(rest["validation_data"])
    return model.fit(shuffled(batches), callbacks=callbacks, **{**rest, "shuffle": False})


def count_execution(callbacks: Sequence[keras.callbacks.Callback]) -> int:
    """Which execution of its trial this is, from 0.

    KerasTuner hands one checkpoint of the best epoch to all executions of a trial, and another
    one when the trial is run again; so the count is kept there, and no earlier trial, search or
    interruption has a part in it.
    """
    # Its class, SaveBestEpoch, is not among KerasTuner's public names.
    checkpoints: list[Any] = [it for it in callbacks if hasattr(it, "best_value")]
    if not checkpoints:
        return 0
    execution = getattr(checkpoints[0], "executions", 0)
    checkpoints[0].executions = execution + 1
    return execution
