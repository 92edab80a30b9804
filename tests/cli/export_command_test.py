"""The command `csdl-keras export`, run within the process."""

import keras
import pytest
from keras import layers

from csdl_keras.models import bayes_classifier
from csdl_keras_cli.main import main
from tests.support.small_models import functional


@pytest.fixture
def saved(tmp_path):
    path = str(tmp_path / "model.keras")
    bayes_classifier(functional([layers.Dense(2, "softmax")]), [[0, 1], [9, 0]]).save(path)
    return path


def test_options(saved, monkeypatch, capsys):
    calls = []
    monkeypatch.setattr("csdl_keras.export", lambda *given, **own: calls.append((given, own)))
    options = ["--output", "probability", "--from-logits", "--cost-matrix-input"]
    for arguments in (["model.onnx"], ["a.tflite"], ["b/model"]):
        assert main(["export", saved, *arguments]) == 0
    assert main(["export", saved, "folder", *options]) == 0
    assert [it[1]["format"] for it in calls] == "onnx litert savedmodel savedmodel".split()
    (model, path), first = calls[0]
    assert isinstance(model, keras.Model) and model.output_shape == (None, 2)
    assert str(path) == "model.onnx" and {*first.values()} == {"onnx", None, False}
    expected = {"output": "probability", "from_logits": True, "cost_matrix_input": True}
    assert calls[-1][1] == {"format": "savedmodel", **expected}
    assert capsys.readouterr().out.startswith("model.onnx\n")


def test_a_file_that_is_no_model(tmp_path, capsys):
    broken = tmp_path / "broken.keras"
    broken.write_text("no model")
    for path in (broken, tmp_path / "missing.keras"):
        assert main(["export", str(path), str(tmp_path / "model.onnx")]) == 2
        assert str(path) in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [broken]
