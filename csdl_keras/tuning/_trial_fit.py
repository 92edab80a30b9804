"""Training of a trial on batches and masks that follow from a seed."""

import math
from collections.abc import Sequence
from typing import Any

import keras

from csdl_keras.fitting.seeded_fit import executed_steps, follows_seed, seeded_fit


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
    """Fits a trial with `seeded_fit`.

    A trial that diverges gets a cost of NaN, which KerasTuner understands; it raises no error.
    """
    if seed is not None:
        keras.utils.set_random_seed(seed)
        if model.steps_per_execution == 1 and follows_seed(x, arguments):
            size, steps = arguments.get("batch_size") or 32, arguments.get("steps_per_epoch")
            model.steps_per_execution = executed_steps(len(x), size, steps)
    return seeded_fit(model, x, y, seed, may_diverge=True, **arguments)


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
