"""The base class of HyperModels, which checks the data of a trial and fits it."""

import math
from collections.abc import Sequence
from typing import Any

import keras
import keras_tuner
import numpy as np
from keras_tuner.errors import FatalValueError

from csdl_keras._utils.arrays import (
    check_entries,
    check_example_shape,
    check_range,
    check_rows,
    number_array,
)
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_vectors
from csdl_keras.costs._tensors import tensor_or_labels
from csdl_keras.fitting.fit import executed_steps, follows_seed, seeded_fit
from csdl_keras.tuning._search_record import FitArguments, FitData, check_same_trial


class CheckedHyperModel(keras_tuner.HyperModel):
    """Base class of HyperModels that check the data of a search before they train anything.

    A subclass sets `input_shape`, `cost_matrix` and `num_classes`.
    """

    input_shape: tuple[int, ...]
    cost_matrix: np.ndarray | None
    num_classes: int

    @property
    def bounded(self) -> bool:
        """True if inputs must be in [0, 1]."""
        return False

    def check_trial(
        self,
        hp: keras_tuner.HyperParameters,
        x: FitData,
        y: FitData,
        callbacks: Sequence[keras.callbacks.Callback],
        fit_arguments: FitArguments,
    ) -> None:
        """Raises if the data are wrong, or the folder holds another search.

        Raises:
            keras_tuner.errors.FatalValueError: which ends the search; other errors only fail a
                trial.
        """
        try:
            validation = fit_arguments.get("validation_data")
            if validation is None and not fit_arguments.get("validation_split"):
                raise ValueError(
                    "Expected `validation_data` or `validation_split` in tuner.search(...), since "
                    "trials are compared by 'val_average_cost'; received neither."
                )
            if isinstance(validation, (tuple, list)) and len(validation) > 1:
                self._check_arrays(*validation[:2])
            if y is not None:
                self._check_arrays(x, y)
            check_same_trial(hp, x, y, callbacks, fit_arguments)
        except ValueError as error:
            raise FatalValueError(str(error)) from error

    def _check_arrays(self, x: ArrayLike, y: ArrayLike) -> None:
        targets, inputs = np.asarray(y), number_array("x", x, "(N, ...)")
        check_example_shape("`x`", inputs, self.input_shape, "the `input_shape`")
        check_entries("x", inputs, np.isfinite(inputs), "finite")
        check_rows("y", targets, len(inputs), "inputs")
        if self.bounded:
            reason = ", which the cross-entropy of pre-training needs"
            hint = " Scale them, or pass reconstruction='squared_error'."
            check_range("inputs", inputs, 0, 1, reason, hint)
        if self.cost_matrix is None:
            check_cost_vectors(targets, self.num_classes)
        else:
            tensor_or_labels(targets, self.num_classes)


def validation_apart(
    x: FitData, y: FitData, arguments: FitArguments
) -> tuple[FitData, FitData, FitArguments]:
    """Returns the examples to train on, and `fit`'s arguments without a `validation_split`.

    The last examples are for validation, as in `fit`; they are taken apart before
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
    model: keras.Model, x: FitData, y: FitData, seed: int | None, arguments: FitArguments
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
    """Returns which execution of its trial this is, from 0.

    KerasTuner hands one checkpoint of the best epoch to all executions of a trial, and another
    one when the trial is run again. The count is kept there, so that no earlier trial, search
    or interruption affects it.
    """
    # Its class, SaveBestEpoch, is not among KerasTuner's public names.
    checkpoints: list[Any] = [it for it in callbacks if hasattr(it, "best_value")]
    if not checkpoints:
        return 0
    execution = getattr(checkpoints[0], "executions", 0)
    checkpoints[0].executions = execution + 1
    return execution
