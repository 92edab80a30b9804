"""Exports models, with their decision, for runtimes without Keras."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator

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
    """Writes a model, with its decision inside, for runtimes without Keras.

    The exported model takes batches of any size and has the outputs of
    `csdl_keras.models.serving_model`: `decision`, int32 `(batch,)`, and `costs`,
    float32 `(batch, D)`. A single input is named `inputs`, several keep their
    names. Costs are named `cost_matrix`: float32 `(batch, K, D)`, or `(1, K, D)` for a
    whole batch, of a model that `bayes_classifier` made with `cost_input=True`; `(K, D)` with
    `cost_matrix_input=True`. Inputs keep their dtypes,
    except that bfloat16 becomes float32. Layers that compute in 16 bits become
    float32, and for LiteRT, which lacks operations on float64, those of 64 bits too.
    A network for data frames takes the numbers that `model.encode(frame)` returns, not
    strings.

    Keras exports with TensorFlow. On another backend, the model is saved to a
    temporary file and exported by a new process, which uses no accelerator.

    Args:
        model: a model that outputs costs, probabilities or logits.
        path: file that ends in `.onnx` or `.tflite`, which is replaced as a whole if
            it exists; or for a SavedModel a new or empty folder. The folder that it
            is in must exist.
        format: `"savedmodel"`, `"onnx"` or `"litert"`.
        output: as in `serving_model`.
        from_logits: as in `serving_model`.
        cost_matrix_input: whether one `(K, D)` cost matrix for the whole call is an input,
            so that costs can change later, as in `serving_model`. Defaults to False.

    Raises:
        ValueError: if `model` is not a Keras model (as the kernel machine of `"csosr"`),
            does not fit `serving_model` or cannot be written in the format; or if the
            path does not fit the format or cannot be written. No file is left behind.
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
    if not path.parent.is_dir():
        raise ValueError(
            f"Expected a path in a folder that exists; received {path}: there is no folder "
            f"{path.parent}."
        )
    if suffix and path.is_dir():
        raise ValueError(f"Expected the path of a file; received the folder {path}.")
    if not suffix and path.exists() and (path.is_file() or any(path.iterdir())):
        raise ValueError(f"Expected a new or empty folder for a SavedModel; received {path}.")
    return path


@contextlib.contextmanager
def _unfinished(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields a path in a temporary folder beside another path, which is removed at the end."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="unfinished-", dir=path.parent)
    except OSError as error:
        raise ValueError(f"Expected a path in a folder that can be written; {error}.") from error
    with folder as name:
        yield pathlib.Path(name, path.name)


def _write_in_process(model: keras.Model, path: pathlib.Path, format: str) -> None:
    """Calls `write_artifact` in a new process, whose backend is TensorFlow."""
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
        "CUDA_VISIBLE_DEVICES": "-1",  # This process may hold all memory of an accelerator.
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    saved = path.with_name("model.keras")
    model.save(saved)
    code = "from csdl_keras.prediction._formats import main; main()"
    command: list[str | os.PathLike] = [sys.executable, "-c", code, saved, path, format, *modules]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stdout.strip() or f"TensorFlow's process ended: {done.stderr}")


def _modules(config: object) -> set[str]:
    """Returns the modules of all classes in a saved config that are not Keras' own."""
    if not isinstance(config, dict):
        parts = config if isinstance(config, (list, tuple)) else ()
        return set().union(*map(_modules, parts))
    found = set().union(*map(_modules, config.values()))
    if {"module", "class_name", "registered_name"} <= config.keys():
        module = config["module"] or "__main__"  # Keras leaves out the main module.
        if module.partition(".")[0] not in ("keras", "builtins"):
            found.add(module)
    return found
