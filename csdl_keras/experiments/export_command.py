"""The command `csdl-keras export`."""

import argparse
import pathlib
from typing import Any

import keras

from csdl_keras._utils.checks import OUTPUTS
from csdl_keras.prediction.export import SUFFIXES, export


def add_export(commands: Any) -> None:
    """Adds the arguments of `csdl-keras export`."""
    parser = commands.add_parser(
        "export",
        help="write a saved model, with its decision inside, for runtimes without Keras",
        description=(
            "Writes a saved classifier as a SavedModel, an ONNX or a LiteRT file that answers with "
            "the decided class and the expected cost of each decision."
        ),
    )
    parser.add_argument("model", type=pathlib.Path, help="file that model.save wrote, .keras")
    parser.add_argument(
        "path", type=pathlib.Path, help="what to write: a file .onnx or .tflite, or a new folder"
    )
    parser.add_argument(
        "--format", choices=SUFFIXES, required=True, help="format of what it writes"
    )
    parser.add_argument(
        "--output",
        choices=OUTPUTS,
        help="what the model outputs, where its last layer does not tell",
    )
    parser.add_argument(
        "--from-logits", action="store_true", help="the model outputs logits of the classes"
    )
    parser.add_argument(
        "--cost-matrix-input",
        action="store_true",
        help="make the cost matrix an input, so that prices can change later",
    )


def export_model(arguments: argparse.Namespace) -> int:
    """Runs `csdl-keras export`; returns the exit status."""
    try:
        model = keras.saving.load_model(arguments.model, compile=False)
    except Exception as error:
        # Keras raises whatever it met in the file.
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
