import importlib
import io
import sys

import matplotlib
import pytest

import csdl_keras
from tests.plots.arguments_test import CALLS


def test_no_pyplot_no_global_setting_and_an_error_without_matplotlib(monkeypatch):
    monkeypatch.setattr(csdl_keras, "plots", csdl_keras.plots)
    for name in [name for name in sys.modules if name.startswith("csdl_keras.plots")]:
        monkeypatch.delitem(sys.modules, name)
    # From here on, importing pyplot fails.
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    before = dict(matplotlib.rcParams)
    with monkeypatch.context() as context:
        context.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(ModuleNotFoundError, match=r"pip install 'csdl_keras\[compare\]'"):
            importlib.import_module("csdl_keras.plots")
    importlib.import_module("csdl_keras.plots")
    for draw in CALLS.values():
        draw().figure.savefig(io.BytesIO(), format="png")
    assert dict(matplotlib.rcParams) == before
