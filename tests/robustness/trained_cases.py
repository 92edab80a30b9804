"""What is done with a trained network: right arguments, and what documentation says."""

import keras
import numpy as np

import csdl_keras as csdl
from tests.robustness.documented import array_of_numbers, is_indices, is_number
from tests.robustness.fit_cases import is_path
from tests.robustness.outcome import Case
from tests.robustness.training_cases import examples, optional_integer

CLASSIFIER = csdl.models.mlp((3,), 3, (4,), seed=0)


LOGITS = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3)])


class WritesError(Exception):
    """Raised where a file would be written."""


def fitting(model, from_logits):
    """The classifier, or where it is to output logits one that does."""
    return LOGITS if model is CLASSIFIER and from_logits is True else model


def calibrate(model, x, y, method, from_logits, batch_size, spread):
    """The name of what comes out."""
    model = fitting(model, from_logits)
    return csdl.calibrate(model, x, y, method, from_logits, batch_size, spread).name


def is_calibrated(model, x, y, method, from_logits, batch_size, spread):
    array = np.asarray(x) if is_flags(x) else array_of_numbers(x)
    return (
        isinstance(model, keras.Model)
        and array is not None
        and array.size > 0
        and array.shape[1:] in ((3,), (3, 1))
        and is_indices(y, 3)
        and len(y) == len(array)
        and str(method) == "temperature"
        and isinstance(from_logits, bool)
        and optional_integer(batch_size, 1)
        and (spread is None or (is_number(spread, 0, 1e6) and spread >= 1e-6))
    )


def is_flags(x):
    try:
        return np.asarray(x).dtype == bool and not np.ma.is_masked(x)
    except ValueError:
        return False


def export(model, path, format, output, from_logits, cost_matrix_input):
    try:
        csdl.export(
            fitting(model, from_logits), path, format, output, from_logits, cost_matrix_input
        )
    except WritesError:
        return "writes"
    raise AssertionError("neither refused nor written")


def is_exported(model, path, format, output, from_logits, cost_matrix_input):
    return (
        isinstance(model, keras.Model)
        and is_path(path)
        and str(path).endswith(".tflite")
        and str(format) == "litert"
        and (output is None or str(output) == "probability")
        and isinstance(from_logits, bool)
        and isinstance(cost_matrix_input, bool)
    )


CASES = {
    "calibrate": Case(
        calibrate,
        lambda rng, k: (CLASSIFIER, *examples(rng, 3), "temperature", False, 2, 1.0),
        is_calibrated,
    ),
    "export": Case(
        export,
        lambda rng, k: (CLASSIFIER, "a.tflite", "litert", None, False, bool(rng.integers(2))),
        is_exported,
    ),
}
