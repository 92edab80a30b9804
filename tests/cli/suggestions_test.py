import pathlib

import pytest

from csdl_keras_cli.arguments import image_size
from csdl_keras_cli.export import _format_of
from csdl_keras_cli.suggestions import did_you_mean


@pytest.mark.parametrize(
    "name, told",
    [
        ("mnits", " Did you mean 'mnist'?"),
        ("MNIST", " Did you mean 'mnist'?"),
        ("zzz", ""),
        ("iris", ""),
    ],
)
def test_did_you_mean(name, told):
    assert did_you_mean(name, ["mnist", "cifar10", "digits"]) == told


def test_image_size():
    assert image_size("32") == (32, 32)
    assert image_size("24x32") == (24, 32)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("a.onnx", "onnx"),
        ("a.TFLITE", "litert"),
        ("model", "savedmodel"),
        ("b/model", "savedmodel"),
    ],
)
def test_format_of_a_name(name, expected):
    assert _format_of(pathlib.Path(name)) == expected


def test_a_name_that_says_no_format():
    with pytest.raises(ValueError, match="ends in .onnx or .tflite.*received model.h5"):
        _format_of(pathlib.Path("model.h5"))
