"""KerasTuner's chief and workers, three processes on this machine."""

import json
import socket

import pytest

from tests.support.fresh_process import start_python

CODE = """
import json, os, sys
from csdl_keras import StageCache
from tests.tuning.searches import cost, made, outcomes, search, small

folder = sys.argv[1]
hyper_model = small(depth=1, cache=StageCache(folder + "/stages"))
tuner = search(made(folder, hyper_model, max_trials=4))
if "chief" in os.environ["KERASTUNER_TUNER_ID"]:
    trials = {name: [status, score] for name, (status, _, score) in outcomes(tuner).items()}
    print(json.dumps([trials, cost(tuner.get_best_models()[0])]))
"""


@pytest.mark.slow
def test_one_chief_and_two_workers(tmp_path):
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = str(place.getsockname()[1])
    oracle = {"KERASTUNER_ORACLE_IP": "127.0.0.1", "KERASTUNER_ORACLE_PORT": port}
    processes = {
        name: start_python(CODE, tmp_path, KERASTUNER_TUNER_ID=name, **oracle)
        for name in ("chief", "worker_0", "worker_1")
    }
    told = {name: process.communicate(timeout=300)[0] for name, process in processes.items()}
    assert [process.returncode for process in processes.values()] == [0, 0, 0]
    trials, cost = json.loads(told["chief"].splitlines()[-1])
    assert [status for status, _ in trials.values()] == ["COMPLETED"] * 4
    assert abs(cost - min(score for _, score in trials.values())) < 1e-6
