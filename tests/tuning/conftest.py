"""Searches of small networks run eagerly."""

import gc

import pytest


@pytest.fixture(autouse=True)
def _quickly(run_eagerly, monkeypatch):
    # Before each trial KerasTuner collects garbage twice, slowly in a process of many tests.
    monkeypatch.setattr(gc, "collect", lambda *arguments: 0)
