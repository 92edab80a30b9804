"""Comparisons on any backend, settings of Keras within a `with`, and config round trips."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
from keras import tree

MIXED_POLICIES = ("mixed_bfloat16", "mixed_float16")
#: `jit_compile` of large models in tests: TensorFlow traces them, which XLA would make far slower.
JIT_COMPILE = keras.backend.backend() == "jax"


def to_numpy(values: Any) -> np.ndarray:
    """Any backend's tensor, of any float type, as a NumPy array that NumPy can compare."""
    if keras.backend.standardize_dtype(getattr(values, "dtype", None)) == "bfloat16":
        values = keras.ops.cast(values, "float32")
    return np.asarray(keras.ops.convert_to_numpy(values))


@contextlib.contextmanager
def _setting(get: Callable[[], Any], put: Callable[[Any], None], value: str) -> Iterator[None]:
    before = get()
    put(value)
    try:
        yield
    finally:
        put(before)


def dtype_policy(name: str) -> Any:
    """Sets Keras' global dtype policy within a `with`."""
    return _setting(keras.config.dtype_policy, keras.config.set_dtype_policy, name)


def floatx(name: str) -> Any:
    """Sets Keras' default float type within a `with`."""
    return _setting(keras.config.floatx, keras.config.set_floatx, name)


class TestCase:
    """Base of test classes. Their names begin with `Test`, or pytest would skip them."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__name__.startswith("Test"):
            raise TypeError(f"Expected a name that begins with Test; received {cls.__name__}.")

    def assertAllClose(self, a: Any, b: Any, atol: float = 1e-5, rtol: float = 1e-5):  # noqa: N802
        """Same shapes, and values within the tolerances; NaN equals NaN; also dicts of tensors."""
        if isinstance(b, dict):
            assert a.keys() == b.keys()
            for key in b:
                self.assertAllClose(a[key], b[key], atol, rtol)
            return
        a, b = to_numpy(a), to_numpy(b)
        assert a.shape == b.shape, f"shapes {a.shape} and {b.shape} differ"
        np.testing.assert_allclose(a, b, atol=atol, rtol=rtol)

    def assertFinite(self, values: Any) -> None:  # noqa: N802
        assert all(np.isfinite(to_numpy(tensor)).all() for tensor in tree.flatten(values))

    def run_config_round_trip(self, thing: Any) -> Any:
        """Checks that the config is JSON and rebuilds an equal object, which is returned."""
        text = json.dumps(thing.get_config(), sort_keys=True)
        twin = type(thing).from_config(json.loads(text))
        assert json.dumps(twin.get_config(), sort_keys=True) == text
        saved = json.loads(json.dumps(keras.saving.serialize_keras_object(thing)))
        loaded = keras.saving.deserialize_keras_object(saved)
        assert type(loaded) is type(thing)
        assert json.dumps(loaded.get_config(), sort_keys=True) == text
        return loaded
