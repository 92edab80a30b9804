"""Tiny networks train faster eagerly."""

import pytest

from csdl_keras_cli.main import main
from tests.paper.grid_runs import TABLE2
from tests.support.eager import eager_models


@pytest.fixture(autouse=True, scope="module")
def _quickly():
    with eager_models():
        yield


@pytest.fixture(scope="session")
def table2(tmp_path_factory):
    """The folder of a finished run of `TABLE2`; tests change copies of it."""
    folder = tmp_path_factory.mktemp("table2") / "new" / "run"
    with eager_models():
        assert main([*TABLE2, "--out", str(folder)]) == 0
    return folder
