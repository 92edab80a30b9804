"""The process in which TensorFlow exports what another backend has trained.

Running it as `python -m` imports the package, which registers the layers of the model.
"""

import importlib
import os
import pathlib
import sys

import keras

from csdl_keras.fitting.environment import end_with
from csdl_keras.prediction._formats import write_artifact


def main(model: str, path: str, format: str, *modules: str) -> int:
    """Exports a saved serving model and returns the exit status.

    Args:
        model: path of the `.keras` file.
        path: path to write to.
        format: `"savedmodel"`, `"onnx"` or `"litert"`.
        *modules: modules to import, which register the model's custom classes.
    """
    try:
        for module in modules:
            importlib.import_module(module)
        # The process that started this one has just written the file, so its code is trusted.
        loaded = keras.saving.load_model(model, compile=False, safe_mode=False)
        write_artifact(loaded, pathlib.Path(path), format)
    except Exception as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    end_with(os.getppid())
    sys.exit(main(*sys.argv[1:]))
