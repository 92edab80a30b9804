"""The command `csdl-keras export`."""

import argparse
import pathlib

from csdl_keras_cli.choices import FORMATS, OUTPUTS

HELP = "convert a saved model and its decision rule for runtimes without Keras"
DESCRIPTION = (
    "Converts a saved classifier to a SavedModel, or to an ONNX, LiteRT or OpenVINO file, that "
    "outputs the decision and the expected cost of each decision."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument("model", type=pathlib.Path, help=".keras file saved by model.save")
    text = "the .onnx, .tflite (LiteRT) or .xml (OpenVINO) file, or the SavedModel folder, to write"
    parser.add_argument("path", type=pathlib.Path, help=text)
    parser.add_argument(
        "--output",
        choices=OUTPUTS,
        help="what the model outputs, if its last layer does not show it",
    )
    parser.add_argument(
        "--from-logits", action="store_true", help="the model outputs logits of the classes"
    )
    parser.add_argument(
        "--cost-matrix-input",
        action="store_true",
        help="make the cost matrix an input, so that costs can change later",
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    formats = {suffix: name for name, suffix in FORMATS.items()}
    if arguments.path.suffix not in formats:
        raise ValueError(f"{arguments.path} must end in .onnx, .tflite or .xml, or have no suffix.")
    import keras

    import csdl_keras

    model = keras.saving.load_model(arguments.model, compile=False)
    csdl_keras.export(
        model,
        arguments.path,
        format=formats[arguments.path.suffix],
        output=arguments.output,
        from_logits=arguments.from_logits,
        cost_matrix_input=arguments.cost_matrix_input,
    )
    print(arguments.path)
    return 0
