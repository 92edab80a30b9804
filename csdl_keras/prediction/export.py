"""Models as files that decide without Keras."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import keras

from csdl_keras._utils.checks import OUTPUTS, check_bool, check_choice, check_path
from csdl_keras._utils.optional import check_installed
from csdl_keras._utils.tensors import LOW_PRECISION
from csdl_keras.prediction._formats import float32_model, write_artifact
from csdl_keras.prediction.serving import serving_model

SUFFIXES = {"savedmodel": "", "onnx": ".onnx", "litert": ".tflite"}


MODULES = {
    "savedmodel": ("tensorflow",),
    "onnx": ("tensorflow", "onnx", "tf2onnx"),
    "litert": ("tensorflow",),
}


def export(
    model: keras.Model,
    path: str | os.PathLike,
    format: str,
    output: str | None = None,
    from_logits: bool = False,
    cost_matrix_input: bool = False,
) -> None:
    """Writes a classifier, with its decision inside, for runtimes without Keras.

    What is written takes any number of inputs at once, and answers with
    `decision`, int32 `(batch,)`, and `costs`, float32 `(batch, D)`, and nothing
    else; see `csdl_keras.prediction.serving`. A single input is called
    `inputs`, several keep their names, and a cost matrix is `cost_matrix`. Inputs
    keep their dtypes too, but for bfloat16, which is float32 there. Layers that
    compute in 16 bits do so in float32 there; for LiteRT, which lacks operations on
    float64, so do those of 64 bits.

    Keras exports with TensorFlow. On another backend the model is saved to a
    temporary file, and a process of its own, without accelerators, exports it.

    Args:
        model: a model that outputs costs, probabilities or logits.
        path: where to write: a file that ends in `.onnx` or `.tflite`, which is
            replaced as a whole if it exists, or for a SavedModel a folder, new
            or empty. The folder that it is in must exist.
        format: `"savedmodel"`, `"onnx"` or `"litert"`.
        output: as in `serving_model`.
        from_logits: as in `serving_model`.
        cost_matrix_input: as in `serving_model`: whether the `(K, D)` cost
            matrix is an input, so that prices can change later.

    Raises:
        ValueError: if it is no Keras model, as the kernel machine of `"csosr"`, or does
            not fit `serving_model`, the path does not
            fit the format or cannot be written, or the format cannot hold the
            model. Nothing is left behind then.
        ModuleNotFoundError: if a package is missing, `csdl_keras[export]`.

    Example:

    >>> import csdl_keras
    >>> classifier = csdl_keras.models.mlp((4,), num_classes=2, hidden_units=(5,))
    >>> careful = csdl_keras.bayes_classifier(classifier, [[0, 1], [9, 0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export(careful, f"{folder}/careful.tflite", "litert")
    ...     os.listdir(folder)
    ['careful.tflite']
    """
    check_choice("format", format, SUFFIXES)
    path = _check_path(check_path("path", path), format)
    if output is not None:
        check_choice("output", output, OUTPUTS)
    check_bool("from_logits", from_logits)
    if hasattr(model, "predict_costs"):
        raise ValueError(
            f"Expected a keras.Model; received {type(model).__name__}, a kernel machine, which "
            "these formats cannot hold. Its `save` writes it for CSOSR.load."
        )
    for module in MODULES[format]:
        check_installed(module, "export")
    serving = serving_model(model, output, from_logits, cost_matrix_input)
    replaced = (*LOW_PRECISION, "float64") if format == "litert" else LOW_PRECISION
    with _unfinished(path) as unfinished:
        if keras.backend.backend() == "tensorflow":
            write_artifact(float32_model(serving, replaced), unfinished, format)
        else:
            _write_in_process(float32_model(serving, replaced), unfinished, format)
        unfinished.replace(path)


def _check_path(path: pathlib.Path, format: str) -> pathlib.Path:
    suffix = SUFFIXES[format]
    if path.suffix != suffix and suffix:
        raise ValueError(
            f"Expected a path that ends in {suffix!r} for the format {format!r}; received {path}."
        )
    if suffix and path.is_dir():
        raise ValueError(f"Expected the path of a file; received the folder {path}.")
    if not suffix and path.exists() and (path.is_file() or any(path.iterdir())):
        raise ValueError(f"Expected a new or empty folder for a SavedModel; received {path}.")
    return path


@contextlib.contextmanager
def _unfinished(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A path beside another one, to write to; what is there in the end is removed."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="unfinished-", dir=path.parent)
    except OSError as error:
        raise ValueError(f"Expected a path in a folder that can be written; {error}.") from error
    with folder as name:
        yield pathlib.Path(name, path.name)


def _write_in_process(model: keras.Model, path: pathlib.Path, format: str) -> None:
    """`write_artifact` in a new process, whose backend is TensorFlow."""
    modules = sorted(_modules(keras.saving.serialize_keras_object(model)))
    if "__main__" in modules:
        raise ValueError(
            f"Expected custom layers of {model.name!r} to be in a module, since another process "
            "has to import them; received some that the main program defines."
        )
    environment = {
        **os.environ,
        "KERAS_BACKEND": "tensorflow",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "CUDA_VISIBLE_DEVICES": "-1",  # this process may hold all of an accelerator's memory
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    saved = path.with_name("model.keras")
    model.save(saved)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "csdl_keras.prediction._export_process",
            saved,
            path,
            format,
            *modules,
        ],
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise ValueError(done.stdout.strip() or f"TensorFlow's process ended: {done.stderr}")


def _modules(config: Any) -> set[str]:
    """The modules of all classes of a saved configuration that Keras does not have itself."""
    if not isinstance(config, dict):
        parts = config if isinstance(config, (list, tuple)) else ()
        return set().union(*map(_modules, parts))
    found = set().union(*map(_modules, config.values()))
    if {"module", "class_name", "registered_name"} <= config.keys():
        module = config["module"] or "__main__"  # which Keras leaves out
        if module.partition(".")[0] not in ("keras", "builtins"):
            found.add(module)
    return found
