"""Models of 16 bits, computing in 32."""

import json
import pathlib
import tempfile
import zipfile
from typing import Any

import keras

from csdl_keras._ops import LOW_PRECISION

CONFIG = "config.json"


def float32_model(model: keras.Model) -> keras.Model:
    """The model, or a copy of it that computes in float32 if a layer of it has 16 bits.

    Runtimes for ordinary processors lack most operations on 16 bits.
    """
    if not any(layer.compute_dtype in LOW_PRECISION for layer in model._flatten_layers()):
        return model
    with tempfile.TemporaryDirectory() as folder:
        path, copy = pathlib.Path(folder, "model.keras"), pathlib.Path(folder, "copy.keras")
        model.save(path)
        # In the file, which holds also what layers keep outside their weights.
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w") as new:
            for name in old.namelist():
                content = old.read(name)
                if name == CONFIG:
                    content = json.dumps(_in_float32(json.loads(content))).encode()
                new.writestr(name, content)
        return keras.saving.load_model(copy, compile=False, safe_mode=False)


def _in_float32(config: Any) -> Any:
    """A saved configuration with float32 in place of dtypes, and policies, of 16 bits."""
    if isinstance(config, list):
        return [_in_float32(value) for value in config]
    if not isinstance(config, dict):
        return config
    changed = {key: _in_float32(value) for key, value in config.items()}
    name = "name" if config.get("class_name") == "DTypePolicy" else "dtype"
    place = changed["config"] if name == "name" else changed
    if str(place.get(name)).endswith(LOW_PRECISION):
        place[name] = "float32"
    return changed
