"""The command `csdl-keras export`."""

import argparse
import pathlib

from csdl_keras_cli.choices import FORMATS, OUTPUTS

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
        "--format",
        choices=tuple(FORMATS),
        help="format of that file or folder; by default the one that its name says: onnx for "
        ".onnx, litert for .tflite, savedmodel for a name without an end",
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


def check(arguments: argparse.Namespace) -> None:
    """Finds the format of the file to write; raises a ValueError if its name tells none."""
    if arguments.format is None:
        formats = {suffix: name for name, suffix in FORMATS.items()}
        if arguments.path.suffix.lower() not in formats:
            raise ValueError(
                f"Expected a path that ends in .onnx or .tflite, or a folder without an end, or "
                f"--format; received {arguments.path}."
            )
        arguments.format = formats[arguments.path.suffix.lower()]


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    import keras

    import csdl_keras

    model = keras.saving.load_model(arguments.model, compile=False)
    csdl_keras.export(
        model,
        arguments.path,
        format=arguments.format,
        output=arguments.output,
        from_logits=arguments.from_logits,
        cost_matrix_input=arguments.cost_matrix_input,
    )
    print(arguments.path)
    return 0
