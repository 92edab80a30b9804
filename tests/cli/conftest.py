"""Tiny networks train faster eagerly."""

import pytest

from csdl_keras_cli.main import main
from tests.cli.runs import TUNE
from tests.support.eager import eager_models


@pytest.fixture(autouse=True, scope="module")
def _quickly(request):
    if request.module.__name__.endswith("golden_test"):
        yield
        return
    with eager_models():
        yield


@pytest.fixture(scope="session")
def searched(tmp_path_factory):
    """The folder of a finished run of `TUNE`; tests change copies of it."""
    folder = tmp_path_factory.mktemp("tune")
    with eager_models():
        assert main([*TUNE, "--out", str(folder)]) == 0
    return folder
