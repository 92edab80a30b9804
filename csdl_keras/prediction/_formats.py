"""Writes models in the formats of `export`, with TensorFlow as Keras' backend."""

import contextlib
import importlib
import io
import json
import logging
import os
import pathlib
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

import keras

from csdl_keras._utils.optional import optional_module
from csdl_keras._utils.processes import end_with
from csdl_keras._utils.structure import inputs_of
from csdl_keras._utils.tensors import LOW_PRECISION

CONFIG = "config.json"


def main() -> None:
    """Writes a saved serving model in the process that `export` starts on another backend.

    The arguments of the process are the paths to read and to write, the format, and the
    modules that register the model's custom classes.
    """
    end_with(os.getppid())
    model, path, format, *modules = sys.argv[1:]
    try:
        for module in modules:
            importlib.import_module(module)
        # The process that started this one has just written the file, so its code is trusted.
        loaded = keras.saving.load_model(model, compile=False, safe_mode=False)
        write_artifact(loaded, pathlib.Path(path), format)
    except Exception as error:
        print(error)
        sys.exit(1)


def float32_model(model: keras.Model, dtypes: Sequence[str] = LOW_PRECISION) -> keras.Model:
    """Returns the model, or a copy with float32 in place of `dtypes` where it has any.

    The dtypes of its inputs stay. Runtimes for CPUs lack most operations on 16-bit floats,
    and LiteRT also those on 64-bit floats.
    """
    # An input layer has its type in `dtype`, a layer that computes in `compute_dtype`.
    found = {(layer.dtype, layer.compute_dtype) for layer in model._flatten_layers()}
    if not any(dtype in dtypes for pair in found for dtype in pair):
        return model
    with tempfile.TemporaryDirectory() as folder:
        path, copy = pathlib.Path(folder, "model.keras"), pathlib.Path(folder, "copy.keras")
        model.save(path)
        # A changed file keeps the state that layers save apart from their weights.
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w") as new:
            for name in old.namelist():
                content = old.read(name)
                if name == CONFIG:
                    content = json.dumps(_changed(json.loads(content), tuple(dtypes))).encode()
                new.writestr(name, content)
        return keras.saving.load_model(copy, compile=False, safe_mode=False)


def _changed(config: dict, dtypes: tuple[str, ...]) -> dict:
    """Returns the config of a functional model with float32 in all layers but its inputs."""
    changed = _in_float32(config, dtypes)
    for before, after in zip(config["config"]["layers"], changed["config"]["layers"], strict=True):
        if before["class_name"] == "InputLayer":
            after["config"]["dtype"] = before["config"]["dtype"]
    return changed


def _in_float32(config: object, dtypes: tuple[str, ...]) -> Any:
    """Returns a config with float32 in place of dtypes, and of dtype policies that use them."""
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
        with _silenced("tensorflow", "tf2onnx"):
            write(model, path, [signature])
    except Exception as error:
        # Converters raise exceptions of many kinds.
        raise ValueError(
            f"Expected a model that can be exported as {format!r}; received {model.name!r}. "
            f"{type(error).__name__}: {_shortened(str(error))}"
        ) from error


def _shortened(message: str) -> str:
    """Returns the lines of a message that name operations LiteRT lacks, or its first lines."""
    lines = message.splitlines()
    lacking = [line for line in lines if line.startswith(("Custom ops:", "TF Select ops:"))]
    return " ".join(lacking or lines[:3])[:500]


@contextlib.contextmanager
def _silenced(*names: str) -> Iterator[None]:
    """Silences these loggers; errors still raise."""
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger in levels:
        logger.setLevel(logging.CRITICAL)  # tf2onnx logs errors that it recovers from.
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def _savedmodel(model: keras.Model, path: pathlib.Path, signature: list) -> None:
    model.export(path, format="tf_saved_model", verbose=False, input_signature=signature)


def _litert(model: keras.Model, path: pathlib.Path, signature: list) -> None:
    lite = optional_module("tensorflow", "export").lite
    # Other operations would need the whole of TensorFlow at run time.
    target = {"supported_ops": [lite.OpsSet.TFLITE_BUILTINS]}
    arguments = {"input_signature": signature, "target_spec": target}
    # Keras 3.13 does not take a `pathlib.Path`, and prints in spite of `verbose`.
    with contextlib.redirect_stdout(io.StringIO()):
        model.export(str(path), format="litert", verbose=False, **arguments)


def _onnx(model: keras.Model, path: pathlib.Path, signature: list) -> None:
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
    # Keras' own ONNX export turns constants, such as the means of Normalization, into inputs.
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
    )
    classes = getattr(model, "classes", None)
    if classes is not None:
        onnx.helper.set_model_props(written, {"classes": json.dumps(classes.tolist())})
    onnx.checker.check_model(written)  # This raises where tf2onnx could not convert an operation.
    onnx.save(written, path)
