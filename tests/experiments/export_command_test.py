"""The command `csdl-keras export`, run within the process."""

import importlib

import keras
import pytest
from keras import layers

from csdl_keras.experiments.cli import main
from csdl_keras.models import bayes_classifier
from tests.support.small_models import functional


@pytest.fixture
def exported(monkeypatch):
    """What `export` is called with, instead of exporting."""
    calls = []
    module = importlib.import_module("csdl_keras.experiments.commands.export")
    monkeypatch.setattr(module, "export", lambda *arguments: calls.append(arguments))
    return calls


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.keras"
    model = bayes_classifier(functional([layers.Dense(2, "softmax")]), [[0, 1], [9, 0]])
    model.save(path)
    return path


def test_defaults(saved, exported, capsys):
    assert main(["export", str(saved), "model.onnx", "--format", "onnx"]) == 0
    [(model, path, *rest)] = exported
    assert isinstance(model, keras.Model) and model.output_shape == (None, 2)
    assert [str(path), *rest] == ["model.onnx", "onnx", None, False, False]
    assert capsys.readouterr().out == "model.onnx\n"


def test_options(saved, exported):
    options = ["--output", "probability", "--from-logits", "--cost-matrix-input"]
    assert main(["export", str(saved), "folder", "--format", "savedmodel", *options]) == 0
    assert exported[0][2:] == ("savedmodel", "probability", True, True)


def test_refusals(saved, tmp_path, capsys):
    assert main(["export", str(saved), str(tmp_path / "model.h5"), "--format", "onnx"]) == 2
    assert "ends in '.onnx'" in capsys.readouterr().err
    broken = tmp_path / "broken.keras"
    broken.write_text("no model")
    for path in (broken, tmp_path / "absent.keras"):
        assert main(["export", str(path), str(tmp_path / "model.onnx"), "--format", "onnx"]) == 2
        assert f"Expected {path} to be a model" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["export", str(saved), "model.onnx", "--format", "keras"])
    assert not (tmp_path / "model.onnx").exists()
