"""What `export` refuses, what it leaves on the disk, and the process that it starts."""

import importlib.util
import os
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from csdl_keras.models import bayes_classifier, serving_model, tabular
from csdl_keras.prediction._formats import float32_model
from tests.artifacts import OPENERS, PATHS, InverseErrorFunction, OnnxFile
from tests.models.small_models import Subclassed, functional, inputs
from tests.testing import dtype_policy, to_numpy

FORMATS = pytest.mark.parametrize("format", PATHS)
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
X = inputs(1000)


def classifier():
    return functional([layers.Dense(5, "tanh"), layers.Dense(3, "softmax")])


@pytest.fixture
def idle(monkeypatch):
    """Fails the test if anything is exported."""

    def fail(*args, **kwargs):
        raise AssertionError("exported")

    monkeypatch.setattr(sys.modules["csdl_keras.export"], "write_artifact", fail)
    monkeypatch.setattr(subprocess, "run", fail)


class TestTrainedOnThisBackend:
    """Under JAX and PyTorch, in a process of TensorFlow's."""

    def check(self, folder, format):
        model = classifier()
        model.compile("adam", "sparse_categorical_crossentropy")
        model.fit(X, np.arange(1000) % 3, epochs=1, verbose=0)
        csdl.export(
            bayes_classifier(model, MATRIX), folder / PATHS[format], format, cost_matrix_input=True
        )
        assert os.listdir(folder) == [PATHS[format]]
        artifact = OPENERS[format](folder / PATHS[format])
        for prices in (MATRIX, MATRIX.T.copy()):
            found = artifact({"inputs": X, "cost_matrix": prices.astype("float32")})
            expected = model.predict(X, verbose=0) @ prices
            np.testing.assert_allclose(found["costs"], expected, rtol=1e-5, atol=1e-5)
            clear = np.diff(np.sort(expected, axis=1)[:, :2], axis=1)[:, 0] > 1e-5
            assert clear.mean() > 0.9
            decisions = expected.argmin(axis=1)
            assert len(set(decisions.tolist())) > 1
            np.testing.assert_array_equal(found["decision"][clear], decisions[clear])

    def test_onnx(self, tmp_path):
        self.check(tmp_path, "onnx")

    @pytest.mark.slow
    @pytest.mark.parametrize("format", ["savedmodel", "litert"])
    def test_other_formats(self, tmp_path, format):
        self.check(tmp_path, format)


def test_a_model_that_the_format_cannot_hold(tmp_path):
    """The layer's module is imported by the other process, too, where there is one."""
    path = tmp_path / "model.onnx"
    path.write_text("precious")
    model = functional([layers.Dense(3, "tanh"), InverseErrorFunction()])
    with pytest.raises(ValueError, match="exported as 'onnx'.*(?i:erfinv)"):
        csdl.export(model, path, "onnx", output="cost")
    assert os.listdir(tmp_path) == ["model.onnx"]
    assert path.read_text() == "precious"


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow",
    reason="another backend exports by the same code, in a process that takes longer to start",
)
class TestOnTensorFlow:
    def test_litert_needs_no_part_of_tensorflow(self, tmp_path):
        model = functional([layers.Dense(3, "tanh"), InverseErrorFunction()])
        with pytest.raises(ValueError, match="exported as 'litert'.*Custom ops: Erfinv") as caught:
            csdl.export(model, tmp_path / "model.tflite", "litert", output="cost")
        assert len(str(caught.value)) < 300
        assert os.listdir(tmp_path) == []

    def test_replaces_a_file(self, tmp_path):
        path = tmp_path / "model.onnx"
        path.write_text("old")
        csdl.export(classifier(), str(path), "onnx")
        assert OnnxFile(path).outputs.keys() == {"decision", "costs"}
        assert os.listdir(tmp_path) == ["model.onnx"]

    def test_fills_an_empty_folder(self, tmp_path):
        (tmp_path / "model").mkdir()
        csdl.export(classifier(), tmp_path / "model", "savedmodel")
        assert (tmp_path / "model" / "saved_model.pb").exists()


class TestFloat32Model:
    @pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
    def test_computes_in_32_bits(self, policy):
        with dtype_policy(policy):
            model = bayes_classifier(tabular(X, 3, (5,), seed=0), MATRIX)
            exact = float32_model(serving_model(model))(X)
        mean, variance = X.mean(axis=0), X.var(axis=0)
        kernel, bias, head, head_bias, _ = model.get_weights()
        hidden = np.maximum((X - mean) / np.sqrt(variance) @ kernel + bias, 0)
        powers = np.exp(hidden @ head + head_bias)
        expected = powers / powers.sum(axis=1, keepdims=True) @ MATRIX
        np.testing.assert_allclose(to_numpy(exact["costs"]), expected, atol=1e-5)
        rounded = to_numpy(serving_model(model)(X)["costs"])
        assert np.abs(rounded - expected).max() > 1e-4, "nothing was to be done"

    def test_nothing_to_do(self):
        served = serving_model(classifier())
        assert float32_model(served) is served


@pytest.mark.usefixtures("idle")
class TestRefusals:
    def check(self, folder, message, model=None, path="model.onnx", format="onnx", **arguments):
        before = sorted(folder.rglob("*"))
        with pytest.raises(ValueError, match=message):
            csdl.export(model or classifier(), folder / path, format, **arguments)
        assert sorted(folder.rglob("*")) == before

    @pytest.mark.parametrize("format", ["", "keras", "ONNX", None, 3])
    def test_unknown_formats(self, tmp_path, format):
        self.check(tmp_path, "`format`", format=format)

    @pytest.mark.parametrize(
        ("path", "format", "message"),
        [
            ("model", "onnx", "ends in '.onnx'"),
            ("model.onnx", "litert", "ends in '.tflite'"),
            ("model.tflite", "onnx", "ends in '.onnx'"),
            ("absent/model.onnx", "onnx", "can be written"),
            ("absent/model", "savedmodel", "can be written"),
            ("file/model.tflite", "litert", "can be written"),
            ("file/model", "savedmodel", "can be written"),
            ("folder.onnx", "onnx", "the folder"),
            ("file", "savedmodel", "new or empty folder"),
            ("folder.onnx", "savedmodel", "new or empty folder"),
        ],
    )
    def test_paths(self, tmp_path, path, format, message):
        (tmp_path / "file").write_text("precious")
        (tmp_path / "folder.onnx").mkdir()
        (tmp_path / "folder.onnx" / "precious").write_text("precious")
        self.check(tmp_path, message, path=path, format=format)

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            (Subclassed(3), "output="),
            (keras.Sequential([layers.Dense(3, "softmax")]), "output="),
        ],
    )
    def test_no_model_with_known_inputs(self, tmp_path, model, message):
        self.check(tmp_path, "Expected a", model=model)
        self.check(tmp_path, "Wrap it", model=model, output="cost")

    @pytest.mark.parametrize("model", [layers.Dense(3), "model.keras", None])
    def test_no_model(self, tmp_path, model):
        """Nothing that could be wrapped is advised to be."""
        for output in (None, "cost"):
            with pytest.raises(ValueError, match=r"^Expected a keras.Model; received \w+\.$"):
                csdl.export(model, tmp_path / "model.onnx", "onnx", output=output)
        assert os.listdir(tmp_path) == []

    def test_the_kernel_machine(self, tmp_path):
        baselines = pytest.importorskip("csdl_keras.baselines")
        machine = baselines.CSOSR(cost_matrix=MATRIX).fit(X[:30], np.arange(30) % 3)
        self.check(tmp_path, "CSOSR, a kernel machine.*CSOSR.load", model=machine)
        machine.save(tmp_path / "machine.npz")  # as the message advises
        loaded = baselines.CSOSR.load(tmp_path / "machine.npz")
        np.testing.assert_array_equal(loaded.predict(X), machine.predict(X))

    def test_costs_without_probabilities_inside(self, tmp_path):
        model = functional([csdl.CostOutput(3)])
        self.check(tmp_path, "probabilities inside", model=model, cost_matrix_input=True)

    @FORMATS
    def test_missing_packages(self, tmp_path, monkeypatch, format):
        """Before anything else is done."""
        missing = {"onnx": "tf2onnx"}.get(format, "tensorflow")
        find = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util,
            "find_spec",
            lambda name, *a: None if name == missing else find(name, *a),
        )
        with pytest.raises(ModuleNotFoundError, match=rf"{missing}.*csdl_keras\[export\]"):
            csdl.export(None, tmp_path / PATHS[format], format)
        assert os.listdir(tmp_path) == []


@pytest.mark.skipif(keras.backend.backend() == "tensorflow", reason="starts no process")
class TestProcess:
    def test_a_layer_of_the_main_program(self, tmp_path, idle, monkeypatch):
        monkeypatch.setattr(InverseErrorFunction, "__module__", "__main__")
        model = functional([layers.Dense(3), InverseErrorFunction()])
        with pytest.raises(ValueError, match="in a module"):
            csdl.export(model, tmp_path / "model.onnx", "onnx", output="cost")
        assert os.listdir(tmp_path) == []

    def test_a_process_that_is_killed(self, tmp_path, monkeypatch):
        killed = subprocess.CompletedProcess([], -9, stdout="", stderr="out of memory")
        monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: killed)
        with pytest.raises(ValueError, match="out of memory"):
            csdl.export(classifier(), tmp_path / "model.onnx", "onnx")
        assert os.listdir(tmp_path) == []

    def test_modules_it_imports(self, tmp_path, monkeypatch):
        calls = []

        def record(command, **kwargs):
            calls.append((command, kwargs["env"]))
            return subprocess.CompletedProcess(command, 1, stdout="told", stderr="")

        monkeypatch.setattr(subprocess, "run", record)
        model = functional([layers.Dense(3), InverseErrorFunction()])
        with pytest.raises(ValueError, match="^told$"):
            csdl.export(model, tmp_path / "model.onnx", "onnx", output="cost")
        [(command, environment)] = calls
        assert "tests.artifacts" in command and "keras.layers" not in command
        assert environment["KERAS_BACKEND"] == "tensorflow"
