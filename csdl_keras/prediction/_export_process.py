"""The process in which TensorFlow exports what another backend has trained."""

import importlib
import os
import pathlib
import sys

import keras

import csdl_keras  # noqa: F401  registers the layers that the model may have
from csdl_keras._utils.processes import end_with
from csdl_keras.prediction._formats import write_artifact


def main(model: str, path: str, format: str, *modules: str) -> int:
    """Exports a saved serving model; returns the exit status.

    Args:
        model: the `.keras` file.
        path: of the artifact.
        format: `"savedmodel"`, `"onnx"` or `"litert"`.
        *modules: modules that register the classes of the model.
    """
    try:
        for module in modules:
            importlib.import_module(module)
        # Written a moment ago by the process that started this one, so that its code is trusted.
        loaded = keras.saving.load_model(model, compile=False, safe_mode=False)
        write_artifact(loaded, pathlib.Path(path), format)
    except Exception as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    end_with(os.getppid())
    sys.exit(main(*sys.argv[1:]))
