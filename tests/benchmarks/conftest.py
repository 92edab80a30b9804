"""Imports the programs of `benchmarks/`."""

import importlib

import pytest

from tests.support.fresh_process import REPOSITORY

FOLDER = REPOSITORY / "benchmarks"


@pytest.fixture
def program(monkeypatch):
    """Imports a program of that name."""
    if not FOLDER.is_dir():
        pytest.skip("needs a checkout")
    pytest.importorskip("sklearn", minversion="1.8")
    monkeypatch.syspath_prepend(FOLDER / "speed")
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module
