"""Models of other floating-point types, computing in float32."""

import contextlib
import io
import json
import logging
import pathlib
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

import keras

from csdl_keras._utils.optional import optional_module
from csdl_keras._utils.structure import inputs_of
from csdl_keras._utils.tensors import LOW_PRECISION

CONFIG = "config.json"


def float32_model(model: keras.Model, dtypes: Sequence[str] = LOW_PRECISION) -> keras.Model:
    """The model, or a copy that computes in float32 where the model has one of `dtypes`.

    The dtypes of its inputs stay. Runtimes for ordinary processors lack most operations on
    16 bits, and LiteRT those on 64 too.
    """
    # Of a layer of inputs `dtype` tells, of one that computes `compute_dtype`.
    found = {(layer.dtype, layer.compute_dtype) for layer in model._flatten_layers()}
    if not any(dtype in dtypes for pair in found for dtype in pair):
        return model
    with tempfile.TemporaryDirectory() as folder:
        path, copy = pathlib.Path(folder, "model.keras"), pathlib.Path(folder, "copy.keras")
        model.save(path)
        # In the file, which holds also what layers keep outside their weights.
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w") as new:
            for name in old.namelist():
                content = old.read(name)
                if name == CONFIG:
                    content = json.dumps(_changed(json.loads(content), tuple(dtypes))).encode()
                new.writestr(name, content)
        return keras.saving.load_model(copy, compile=False, safe_mode=False)


def _changed(config: dict[str, Any], dtypes: tuple[str, ...]) -> dict[str, Any]:
    """The saved configuration of a functional model, computing in float32 behind its inputs."""
    changed = _in_float32(config, dtypes)
    for before, after in zip(config["config"]["layers"], changed["config"]["layers"], strict=True):
        if before["class_name"] == "InputLayer":
            after["config"]["dtype"] = before["config"]["dtype"]
    return changed


def _in_float32(config: Any, dtypes: tuple[str, ...]) -> Any:
    """A saved configuration with float32 in place of some dtypes, and of policies of them."""
    if isinstance(config, list):
        return [_in_float32(value, dtypes) for value in config]
    if not isinstance(config, dict):
        return config
    changed = {key: _in_float32(value, dtypes) for key, value in config.items()}
    name = "name" if config.get("class_name") == "DTypePolicy" else "dtype"
    place = changed["config"] if name == "name" else changed
    if str(place.get(name)).endswith(dtypes):
        place[name] = "float32"
    return changed


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
