"""Runs of commands that several modules begin with. Tiny networks train faster eagerly."""

import pytest

from csdl_keras_cli.main import main
from tests.experiments.grid_runs import TABLE2
from tests.support.eager import eager_models

#: Modules whose commands train as those of a user do.
COMPILED = ("cli_test", "tiny_test")


@pytest.fixture(autouse=True, scope="module")
def _quickly(request):
    if request.module.__name__.rpartition(".")[2] in COMPILED:
        yield
        return
    with eager_models():
        yield


def finished(arguments, folder):
    with eager_models():
        assert main([*arguments, "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def table2(tmp_path_factory):
    """The folder of a finished run of `TABLE2`; tests change copies of it."""
    return finished(TABLE2, tmp_path_factory.mktemp("table2") / "new" / "run")
