"""Models that run step by step: for small networks, compiling takes far longer than running."""

import contextlib
from collections.abc import Iterator

import keras
import pytest


@contextlib.contextmanager
def eager_models() -> Iterator[None]:
    """Runs all models within the `with` eagerly.

    Except on JAX, which would compile each operation and take longer.
    """
    if keras.backend.backend() == "jax":
        yield
        return
    # The class that defines it, since Keras does not compile loaded models of a class with its own.
    owner = next(cls for cls in keras.Model.__mro__ if "compile" in vars(cls))
    compile_model = owner.compile

    def compile_eagerly(self, *args, **kwargs):
        compile_model(self, *args, **{**kwargs, "run_eagerly": True})

    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setattr(owner, "compile", compile_eagerly)
        if keras.backend.backend() == "tensorflow":
            import tensorflow as tf

            # Models that only predict are not compiled, and would be traced.
            stack.callback(tf.config.run_functions_eagerly, tf.config.functions_run_eagerly())
            tf.config.run_functions_eagerly(True)
        yield
