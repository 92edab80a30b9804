"""Tiny networks train faster eagerly, and the smallest profile trains smaller ones here."""

import dataclasses

import pytest

from csdl_keras.paper import cells
from csdl_keras.paper.profiles import PROFILES, Search
from csdl_keras_cli.main import main
from tests.paper.grid_runs import TABLE2
from tests.support.eager import eager_models

_TINY = dataclasses.replace(
    PROFILES["tiny"],
    settings=PROFILES["tiny"].settings.replace({"mlp.hidden_units": (8,), "mlp.min_steps": 1}),
    searches=(Search("pretraining.beta", (0.0, 1.0)),),
)


@pytest.fixture(autouse=True, scope="module")
def _quickly():
    with pytest.MonkeyPatch.context() as patch, eager_models():
        patch.setitem(PROFILES, "tiny", _TINY)
        patch.setattr(cells, "forget_models", lambda: None)  # So few models need no collection.
        yield


@pytest.fixture(scope="module")
def table2(tmp_path_factory):
    """The folder of a finished run of `TABLE2`; tests change copies of it."""
    folder = tmp_path_factory.mktemp("table2") / "new" / "run"
    assert main([*TABLE2, "--out", str(folder)]) == 0
    return folder
