"""What `export` refuses, what it leaves on the disk, and the process that it starts."""

import os
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from csdl_keras.models import bayes_classifier
from tests.support.artifacts import OPENERS, PATHS, InverseErrorFunction
from tests.support.small_models import functional, inputs

MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = inputs(1000)


def classifier():
    return functional([layers.Dense(5, "tanh"), layers.Dense(3, "softmax")])


@pytest.fixture
def idle(monkeypatch):
    """Fails the test if anything is exported."""

    def fail(*args, **kwargs):
        raise AssertionError("exported")

    monkeypatch.setattr(sys.modules["csdl_keras.prediction.export"], "write_artifact", fail)
    monkeypatch.setattr(subprocess, "run", fail)


@pytest.mark.parametrize(
    "format",
    [
        "onnx",
        *(pytest.param(it, marks=pytest.mark.slow) for it in ("savedmodel", "litert", "openvino")),
    ],
)
def test_trained_on_this_backend(tmp_path, format):
    """Under JAX and PyTorch, a process of TensorFlow's exports the model."""
    path = tmp_path / PATHS[format]
    if format == "onnx":
        path.write_text("old")
    model = classifier()
    model.compile("adam", "sparse_categorical_crossentropy", run_eagerly=True)
    model.fit(X, np.arange(1000) % 3, epochs=1, batch_size=500, verbose=0)
    csdl.export(bayes_classifier(model, MATRIX), str(path), format, cost_matrix_input=True)
    weights = ["model.bin"] if format == "openvino" else []
    assert sorted(os.listdir(tmp_path)) == [*weights, PATHS[format]]
    artifact = OPENERS[format](path)
    for prices in (MATRIX, MATRIX.T.copy()):
        found = artifact({"inputs": X, "cost_matrix": prices.astype("float32")})
        expected = model.predict(X, verbose=0) @ prices
        np.testing.assert_allclose(found["costs"], expected, rtol=1e-5, atol=1e-5)
        clear = np.diff(np.sort(expected, axis=1)[:, :2], axis=1)[:, 0] > 1e-5
        assert clear.mean() > 0.9
        decisions = expected.argmin(axis=1)
        assert len(set(decisions.tolist())) > 1
        np.testing.assert_array_equal(found["decision"][clear], decisions[clear])


ON_TENSORFLOW = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow",
    reason="another backend exports by the same code, in a process that takes longer to start",
)


@pytest.mark.parametrize(
    "format,message",
    [
        ("onnx", "exported as 'onnx'.*(?i:erfinv)"),
        pytest.param("litert", "as 'litert'.*Custom ops: Erfinv", marks=ON_TENSORFLOW),
    ],
)
def test_a_model_that_the_format_cannot_hold(tmp_path, format, message):
    """The layer's module is imported by the other process, too, where there is one."""
    path = tmp_path / PATHS[format]
    path.write_text("precious")
    model = functional([layers.Dense(3, "tanh"), InverseErrorFunction()])
    with pytest.raises(ValueError, match=message) as caught:
        csdl.export(model, path, format, output="cost")
    assert format == "onnx" or len(str(caught.value)) < 300
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_text() == "precious"


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize(
    ("path", "format", "message"),
    [
        ("model.onnx", "litert", "ends in '.tflite'"),
        ("file/model.tflite", "litert", "in a folder that exists.*received .*file"),
        ("folder.onnx", "savedmodel", "new or empty folder"),
    ],
)
def test_wrong_paths_and_formats(tmp_path, path, format, message):
    (tmp_path / "file").write_text("precious")
    (tmp_path / "folder.onnx").mkdir()
    (tmp_path / "folder.onnx" / "precious").write_text("precious")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=message):
        csdl.export(classifier(), tmp_path / path, format)
    assert sorted(tmp_path.rglob("*")) == before
