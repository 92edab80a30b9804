"""The command `csdl-keras export`, run within the process."""

import importlib

import keras
import pytest
from keras import layers

from csdl_keras.models import bayes_classifier
from csdl_keras_cli.main import main
from tests.support.small_models import functional


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.keras"
    model = bayes_classifier(functional([layers.Dense(2, "softmax")]), [[0, 1], [9, 0]])
    model.save(path)
    return str(path)


def test_options(saved, monkeypatch, capsys):
    calls = []
    module = importlib.import_module("csdl_keras.experiments.commands.export")
    monkeypatch.setattr(module, "export", lambda *arguments: calls.append(arguments))
    assert main(["export", saved, "model.onnx"]) == 0
    options = ["--output", "probability", "--from-logits", "--cost-matrix-input"]
    assert main(["export", saved, "folder", "--format", "savedmodel", *options]) == 0
    [(model, path, *rest), (*_, format, output, logits, matrix)] = calls
    assert isinstance(model, keras.Model) and model.output_shape == (None, 2)
    assert [str(path), *rest] == ["model.onnx", "onnx", None, False, False]
    assert (format, output, logits, matrix) == ("savedmodel", "probability", True, True)
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
    with pytest.raises(SystemExit):
        main(["export", saved, path, "--format", "keras"])
    assert list(tmp_path.iterdir()) == [broken]
