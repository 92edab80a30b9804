"""Models that run step by step: for small networks, compiling takes far longer than running."""

import keras
import pytest


@pytest.fixture
def run_eagerly(monkeypatch):
    """Whatever is compiled within the test runs eagerly, on any backend."""
    compile_model = keras.Model.compile

    def compile_eagerly(self, *args, **kwargs):
        compile_model(self, *args, **{**kwargs, "run_eagerly": True})

    monkeypatch.setattr(keras.Model, "compile", compile_eagerly)
