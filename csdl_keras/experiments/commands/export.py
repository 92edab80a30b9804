"""The command `csdl-keras export`."""

import argparse

import keras

from csdl_keras.prediction.export import export


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    try:
        model = keras.saving.load_model(arguments.model, compile=False)
    except Exception as error:
        # Keras raises errors of many types for a file that is no model.
        raise ValueError(
            f"Expected {arguments.model} to be a model that Keras can load; {error}"
        ) from error
    export(
        model,
        arguments.path,
        arguments.format,
        arguments.output,
        arguments.from_logits,
        arguments.cost_matrix_input,
    )
    print(arguments.path)
    return 0
