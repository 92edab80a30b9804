"""The command `csdl-keras export`, run within the process."""

import pathlib

import keras
import pytest
from keras import layers

from csdl_keras.models import bayes_classifier
from csdl_keras_cli.export import _format_of
from csdl_keras_cli.main import main
from tests.support.small_models import functional


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.keras"
    bayes_classifier(functional([layers.Dense(2, "softmax")]), [[0, 1], [9, 0]]).save(path)
    return str(path)


def test_options(saved, monkeypatch, capsys):
    calls = []
    monkeypatch.setattr("csdl_keras.export", lambda *given, **own: calls.append((given, own)))
    assert main(["export", saved, "model.onnx"]) == 0
    options = ["--output", "probability", "--from-logits", "--cost-matrix-input"]
    assert main(["export", saved, "folder", "--format", "savedmodel", *options]) == 0
    [((model, path), first), (_, second)] = calls
    assert isinstance(model, keras.Model) and model.output_shape == (None, 2)
    assert str(path) == "model.onnx" and first["format"] == "onnx"
    assert {*first.values()} == {"onnx", None, False}
    expected = {"format": "savedmodel", "output": "probability", "from_logits": True}
    assert second == {**expected, "cost_matrix_input": True}
    assert capsys.readouterr().out == "model.onnx\nfolder\n"


def test_refusals(saved, tmp_path, capsys):
    path = str(tmp_path / "model.onnx")
    assert main(["export", saved, str(tmp_path / "model.h5"), "--format", "onnx"]) == 2
    assert "ends in '.onnx'" in capsys.readouterr().err
    broken = tmp_path / "broken.keras"
    broken.write_text("no model")
    for model in (broken, tmp_path / "absent.keras"):
        assert main(["export", str(model), path, "--format", "onnx"]) == 2
        assert f"Expected {model} to be a model" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [broken]


def test_the_format_is_that_of_the_name():
    for name, format in (("a.onnx", "onnx"), ("a.TFLITE", "litert"), ("b/model", "savedmodel")):
        assert _format_of(pathlib.Path(name)) == format
    with pytest.raises(ValueError, match="ends in .onnx or .tflite.*received model.h5"):
        _format_of(pathlib.Path("model.h5"))
