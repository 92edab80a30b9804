"""The command `csdl-keras export`."""

import argparse
import pathlib

import keras

from csdl_keras._utils.checks import OUTPUTS
from csdl_keras.prediction.export import SUFFIXES, export

HELP = "write a saved model, with its decision inside, for runtimes without Keras"
DESCRIPTION = (
    "Writes a saved classifier as a SavedModel, an ONNX or a LiteRT file that answers with "
    "the decided class and the expected cost of each decision."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument("model", type=pathlib.Path, help="file that model.save wrote, .keras")
    parser.add_argument(
        "path", type=pathlib.Path, help="the file to write, .onnx or .tflite, or a new folder"
    )
    parser.add_argument(
        "--format", choices=SUFFIXES, required=True, help="format of that file or folder"
    )
    parser.add_argument(
        "--output",
        choices=OUTPUTS,
        help="kind of the model's outputs, where its last layer does not tell",
    )
    parser.add_argument(
        "--from-logits", action="store_true", help="the model outputs logits of the classes"
    )
    parser.add_argument(
        "--cost-matrix-input",
        action="store_true",
        help="make the cost matrix an input, so that prices can change later",
    )


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
