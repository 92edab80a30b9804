"""Models of other floating-point types, computing in float32."""

import json
import pathlib
import tempfile
import zipfile
from collections.abc import Sequence
from typing import Any

import keras

from csdl_keras._ops import LOW_PRECISION

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
