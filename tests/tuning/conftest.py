"""Searches of small networks run eagerly; those of the command `tune` are compiled."""

import gc

import pytest

from tests.eager import run_eagerly  # noqa: F401


@pytest.fixture(autouse=True)
def _quickly(run_eagerly, monkeypatch):  # noqa: F811
    # Before each trial KerasTuner collects garbage twice, slowly in a process of many tests.
    monkeypatch.setattr(gc, "collect", lambda *arguments: 0)
