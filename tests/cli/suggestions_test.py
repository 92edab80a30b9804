import pytest

from csdl_keras._utils.checks import did_you_mean
from csdl_keras_cli.arguments import image_size


@pytest.mark.parametrize(
    "name, told",
    [("mnits", " Did you mean 'mnist'?"), ("MNIST", " Did you mean 'mnist'?"), ("iris", "")],
)
def test_did_you_mean(name, told):
    assert did_you_mean(name, ["mnist", "cifar10", "digits"]) == told


def test_image_size():
    assert image_size("32") == (32, 32) and image_size("24x32") == (24, 32)
