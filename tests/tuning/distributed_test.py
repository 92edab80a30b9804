"""KerasTuner's chief and workers, three processes on this machine."""

import json
import os
import socket
import subprocess
import sys

import keras
import pytest

from tests.support.fresh_process import REPOSITORY

CODE = """
import json, os, sys
from csdl_keras import StageCache, tuning
from tests.tuning.searches import cost, outcomes, search, small

folder = sys.argv[1]
hyper_model = small(depth=1, cache=StageCache(folder + "/stages"))
tuner = tuning.RandomSearch(hyper_model, max_trials=4, seed=1, directory=folder)
search(tuner)
if "chief" in os.environ["KERASTUNER_TUNER_ID"]:
    trials = {name: [status, score] for name, (status, _, score) in outcomes(tuner).items()}
    print(json.dumps([trials, cost(tuner.get_best_models()[0])]))
"""


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


@pytest.mark.slow
def test_one_chief_and_two_workers(tmp_path):
    environment = {
        **os.environ,
        "KERAS_BACKEND": keras.backend.backend(),
        "KERASTUNER_ORACLE_IP": "127.0.0.1",
        "KERASTUNER_ORACLE_PORT": str(free_port()),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    processes = {
        name: subprocess.Popen(
            [sys.executable, "-c", CODE, str(tmp_path)],
            env={**environment, "KERASTUNER_TUNER_ID": name},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("chief", "worker_0", "worker_1")
    }
    told = {}
    for name, process in processes.items():
        told[name], errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    trials, cost = json.loads(told["chief"].splitlines()[-1])
    assert [status for status, _ in trials.values()] == ["COMPLETED"] * 4
    assert abs(cost - min(score for _, score in trials.values())) < 1e-6
    # Both workers took part: each leaves a file of its own in the project.
    project = tmp_path / "untitled_project"
    assert all((project / f"{name}.json").exists() for name in ("worker_0", "worker_1"))
