"""What a model is exported to; TensorFlow has to be Keras' backend."""

import contextlib
import io
import logging
import pathlib
from collections.abc import Iterator
from typing import Any

import keras

from csdl_keras._ops import inputs_of
from csdl_keras._optional import optional_module


def write_artifact(model: keras.Model, path: pathlib.Path, format: str) -> None:
    """Writes a serving model as a SavedModel, an ONNX or a LiteRT file.

    Raises:
        ValueError: if the format cannot hold the model.
    """
    write = {"savedmodel": _savedmodel, "onnx": _onnx, "litert": _litert}[format]
    signature = keras.tree.map_structure(
        lambda end: keras.layers.InputSpec(shape=end.shape, dtype=end.dtype, name=end.name),
        inputs_of(model),
    )
    try:
        with _without_remarks("tensorflow", "tf2onnx"):
            write(model, path, [signature])
    except Exception as error:
        # Converters raise whatever they met.
        raise ValueError(
            f"Expected a model that can be exported as {format!r}; received {model.name!r}. "
            f"{type(error).__name__}: {_in_brief(str(error))}"
        ) from error


def _in_brief(message: str) -> str:
    """The operations that LiteRT lacks, of pages about them; of other messages the beginning."""
    lines = message.splitlines()
    lacking = [line for line in lines if line.startswith(("Custom ops:", "TF Select ops:"))]
    return " ".join(lacking or lines[:3])[:500]


@contextlib.contextmanager
def _without_remarks(*names: str) -> Iterator[None]:
    """Without what loggers say; what fails raises."""
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger in levels:
        logger.setLevel(logging.CRITICAL)  # tf2onnx logs as errors what it goes on without
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def _savedmodel(model: keras.Model, path: pathlib.Path, signature: Any) -> None:
    model.export(path, format="tf_saved_model", verbose=False, input_signature=signature)


def _litert(model: keras.Model, path: pathlib.Path, signature: Any) -> None:
    lite = optional_module("tensorflow", "export").lite
    # Otherwise operations may go in that need the whole of TensorFlow to run.
    target = {"supported_ops": [lite.OpsSet.TFLITE_BUILTINS]}
    arguments = {"input_signature": signature, "target_spec": target}
    # Keras 3.13 takes no path, and prints whatever `verbose` says.
    with contextlib.redirect_stdout(io.StringIO()):
        model.export(str(path), format="litert", verbose=False, **arguments)


def _onnx(model: keras.Model, path: pathlib.Path, signature: Any) -> None:
    tf = optional_module("tensorflow", "export")
    tf2onnx = optional_module("tf2onnx", "export")
    onnx = optional_module("onnx", "export")
    constants = optional_module("tensorflow.python.framework.convert_to_constants", "export")
    [specs] = keras.tree.map_structure(
        lambda spec: tf.TensorSpec(spec.shape, spec.dtype, spec.name), signature
    )
    function = tf.function(
        lambda inputs: model(inputs, training=False), input_signature=[specs], autograph=False
    )
    concrete = function.get_concrete_function()
    # Keras' own export makes inputs of constants such as the means of a Normalization layer.
    frozen = constants.convert_variables_to_constants_v2(
        concrete, lower_control_flow=False, aggressive_inlining=True
    )
    names = [spec.name for spec in keras.tree.flatten(specs)] + sorted(model.output)
    ends = [tensor.name for tensor in (*frozen.inputs, *frozen.outputs)]
    written, _ = tf2onnx.convert.from_graph_def(
        frozen.graph.as_graph_def(),
        input_names=ends[: len(frozen.inputs)],
        output_names=ends[len(frozen.inputs) :],
        tensors_to_rename=dict(zip(ends, names, strict=True)),
        output_path=str(path),
    )
    onnx.checker.check_model(written)  # fails where tf2onnx left an operation as it was
