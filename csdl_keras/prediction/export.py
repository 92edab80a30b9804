"""Exports models, with their decision, for runtimes without Keras."""

import contextlib
import dataclasses
import importlib
import io
import json
import logging
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import keras

from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.data_model import data_of
from csdl_keras._utils.keras_private import all_layers
from csdl_keras._utils.structure import inputs_of
from csdl_keras._utils.tensors import LOW_PRECISION
from csdl_keras.prediction.serving import serving_model
from csdl_keras_cli.choices import FORMATS
from csdl_keras_cli.optional import check_installed, optional_module


def export(
    model: keras.Model,
    path: str | os.PathLike,
    format: str,
    output: str | None = None,
    from_logits: bool = False,
    cost_matrix_input: bool = False,
) -> None:
    """Writes a model, with its decision inside, for runtimes without Keras.

    The exported model has the inputs and outputs of `csdl_keras.models.serving_model`, with batches
    of any size. Layers and inputs of 16 or 64 bits become float32. The inputs of a network for data
    frames are the numbers that `model.encode(frame)` returns. The metadata of ONNX files contain,
    as JSON, the model's `columns`, `classes`, `decisions`, `known_costs` and their `unit`, which
    `csdl-keras serve` uses. Keras exports with TensorFlow, on another backend in a new process.

    Args:
        model: a model that outputs costs, probabilities or logits.
        path: file that ends in `.onnx`, `.tflite` or `.xml`, which is replaced atomically if it
            exists; or a new or empty folder for a SavedModel. Its parent folder must exist.
        format: `"savedmodel"`, `"onnx"`, `"litert"` or `"openvino"`, whose weights are in a second
            file, which ends in `.bin`.
        output, from_logits, cost_matrix_input: as in `serving_model`.

    Raises:
        ValueError: if the model or the path does not fit the format. No file is left behind.
        ModuleNotFoundError: if a package of the extra `csdl_keras[export]` is missing.

    Example:

    >>> import csdl_keras
    >>> classifier = csdl_keras.models.mlp((4,), num_classes=2, hidden_units=(5,))
    >>> careful = csdl_keras.bayes_classifier(classifier, [[0, 1], [9, 0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(careful, f"{folder}/careful.tflite", "litert")
    ...     os.listdir(folder)
    ['careful.tflite']
    """
    check_choice("format", format, FORMATS)
    path = _check_path(pathlib.Path(path), format)
    needed = {"onnx": ("onnx", "tf2onnx"), "openvino": ("openvino",)}
    for module in ("tensorflow", *needed.get(format, ())):
        check_installed(module, "export")
    serving = serving_model(model, output, from_logits, cost_matrix_input)
    here = keras.backend.backend() == "tensorflow"
    # A folder next to the file allows it to be replaced atomically.
    with tempfile.TemporaryDirectory(prefix="unfinished-", dir=path.parent) as folder:
        unfinished = pathlib.Path(folder, path.name)
        write = write_artifact if here else _write_in_process
        write(float32_model(serving), unfinished, format)
        weights = unfinished.with_suffix(".bin")  # OpenVINO stores weights there.
        if weights.exists():
            weights.replace(path.with_suffix(".bin"))
        unfinished.replace(path)


def _check_path(path: pathlib.Path, format: str) -> pathlib.Path:
    suffix = FORMATS[format]
    taken = path.is_dir() if suffix else path.is_file() or (path.is_dir() and any(path.iterdir()))
    if (suffix and path.suffix != suffix) or taken or not path.parent.is_dir():
        what = f"the path of a file that ends in {suffix!r}" if suffix else "a new or empty folder"
        raise ValueError(
            f"Expected {what}, in a folder that exists, for {format!r}; received {path}."
        )
    return path


def _write_in_process(model: keras.Model, path: pathlib.Path, format: str) -> None:
    """Calls `write_artifact` in a new process, whose backend is TensorFlow."""
    # Importing the modules of custom layers and functions registers them there.
    saved = json.dumps(keras.saving.serialize_keras_object(model))
    modules = sorted(set(re.findall(r'"module": "([^"]+)", "class_name"', saved)))
    environment = {
        **os.environ,
        "KERAS_BACKEND": "tensorflow",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "CUDA_VISIBLE_DEVICES": "-1",  # This process may occupy the GPU.
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    file = path.with_name("model.keras")
    model.save(file)
    code = "from csdl_keras.prediction.export import main; main()"
    command: list[str | os.PathLike] = [sys.executable, "-c", code, file, path, format, *modules]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stdout.strip() or f"The process of TensorFlow failed: {done.stderr}")


def main() -> None:
    """Writes a saved serving model in the process that `export` starts on another backend."""
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


def float32_model(model: keras.Model) -> keras.Model:
    """Returns the model, or a copy with float32 instead of other floats."""
    # Runtimes for CPUs lack most operations on 16-bit floats, LiteRT also those on 64-bit floats.
    # An input layer has its type in `dtype`, a layer that computes in `compute_dtype`.
    found = {dtype for it in all_layers(model) for dtype in (it.dtype, it.compute_dtype)}
    others = {*LOW_PRECISION, "float64"}
    if not found & others:
        return model
    # A file also contains what weights do not, such as vocabularies and moments.
    with tempfile.TemporaryDirectory() as folder:
        file, copy = (pathlib.Path(folder, name) for name in ("model.keras", "copy.keras"))
        model.save(file)
        pattern = rf'("(?:dtype|name)": )"(?:mixed_)?(?:{"|".join(others)})"'
        with zipfile.ZipFile(file) as saved, zipfile.ZipFile(copy, "w") as changed:
            config = re.sub(pattern, r'\1"float32"', saved.read("config.json").decode())
            for name in saved.namelist():
                changed.writestr(name, config if name == "config.json" else saved.read(name))
        return keras.saving.load_model(copy, compile=False, safe_mode=False)


def write_artifact(model: keras.Model, path: pathlib.Path, format: str) -> None:
    """Writes a serving model as a SavedModel, or as a file for ONNX, LiteRT or OpenVINO."""
    writers = {"savedmodel": _keras, "onnx": _onnx, "litert": _litert, "openvino": _keras}
    write = writers[format]
    signature = keras.tree.map_structure(
        lambda end: keras.layers.InputSpec(shape=end.shape, dtype=end.dtype, name=end.name),
        inputs_of(model),
    )
    logging.disable(logging.ERROR)  # tf2onnx logs errors that it recovers from.
    try:
        write(model, path, [signature])
    except Exception as error:
        # Converters raise exceptions of many kinds; LiteRT names missing operations far below.
        lines = str(error).splitlines()
        lacking = [line for line in lines if line.startswith(("Custom ops:", "TF Select ops:"))]
        raise ValueError(
            f"{model.name!r} cannot be exported as {format!r}. "
            f"{type(error).__name__}: {' '.join(lacking or lines[:3])[:500]}"
        ) from error
    finally:
        logging.disable(logging.NOTSET)


def _keras(model: keras.Model, path: pathlib.Path, signature: list) -> None:
    format = "openvino" if path.suffix else "tf_saved_model"
    # Keras does not accept a `pathlib.Path` for OpenVINO.
    model.export(str(path), format=format, verbose=False, input_signature=signature)


def _litert(model: keras.Model, path: pathlib.Path, signature: list) -> None:
    lite = optional_module("tensorflow", "export").lite
    # Other operations would need the whole of TensorFlow at run time.
    target = {"supported_ops": [lite.OpsSet.TFLITE_BUILTINS]}
    arguments = {"input_signature": signature, "target_spec": target}
    # Keras 3.13 does not accept a `pathlib.Path`, and prints despite `verbose=False`.
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
    facts = {name: fact for name, fact in data_of(model).items() if fact is not None}
    told = {name: json.dumps(fact, default=dataclasses.asdict) for name, fact in facts.items()}
    onnx.helper.set_model_props(written, told)
    onnx.checker.check_model(written)  # This raises where tf2onnx could not convert an operation.
    onnx.save(written, path)
