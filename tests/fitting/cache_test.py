"""The cache of stages: what finds what, and what concurrent and killed processes do to it."""

import pickle
import subprocess
import sys

import keras
import numpy as np
import pytest

import csdl_keras
from csdl_keras.fitting.cache import StageCache, StageResult, environment

# Asks for stages in a random order and prints which of them it computes. Neither Keras nor the
# whole package is imported, which would take seconds.
WORKER = """
import random, sys, time, types, unittest.mock
import numpy as np

sys.modules["keras"] = unittest.mock.MagicMock()
package = sys.modules["csdl_keras"] = types.ModuleType("csdl_keras")
package.__path__ = {package!r}
from csdl_keras.fitting.cache import StageCache

def compute():
    time.sleep(0.02)
    print(number, flush=True)
    return [np.full(300_000, number)], {{"number": number}}

cache = StageCache({folder!r})
for number in random.Random({seed}).sample(range(12), 12):
    result = cache.get({{"stage": number}}, compute)
    assert (result.arrays[0] == number).all() and result.info == {{"number": number}}, number
"""


def start(folder, seed):
    code = WORKER.format(folder=str(folder), package=list(csdl_keras.__path__), seed=seed)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def computed(process):
    """The numbers of what a process that succeeds computes."""
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return list(map(int, output.split()))


class Counter:
    """A stage that counts how often it has been computed."""

    count = 0

    def __call__(self):
        self.count += 1
        return [np.arange(6.0).reshape(2, 3), np.array([True])], {"epochs": 3, "name": "a"}


@pytest.fixture(params=["memory", "folder"])
def cache(request, tmp_path):
    return StageCache(None if request.param == "memory" else tmp_path / "new" / "stages")


class TestGet:
    def test_computes_each_description_once(self, cache):
        stage = Counter()
        descriptions = [{"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": None}, {"a": "1"}, {"a": [1]}]
        assert descriptions[0] not in cache
        for _ in range(2):
            for description in descriptions:
                result = cache.get(description, stage)
                arrays = [array.tolist() for array in result.arrays]
                assert arrays == [[[0, 1, 2], [3, 4, 5]], [True]] and result.seconds >= 0
                assert result.info == {"epochs": 3, "name": "a"} and description in cache
        assert stage.count == len(descriptions)
        assert {"b": None, "a": 1} in cache

    def test_results_are_copies(self, cache):
        array = np.arange(3.0)
        cache.get({"a": 1}, lambda: ([array], {"list": [1]})).info["list"].append(2)
        array[:] = 0
        for _ in range(2):
            found = cache.find({"a": 1})
            assert found.arrays[0].tolist() == [0, 1, 2] and found.info == {"list": [1]}
            found.arrays[0][:] = 5


class TestFolder:
    def test_the_process_moves_to_another_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        cache = StageCache("cache")
        cache.get({}, lambda: ([], {}))
        monkeypatch.chdir("/")
        assert {} in cache and cache.folder == tmp_path / "cache"

    def test_processes_share_the_work(self, tmp_path):
        processes = [start(tmp_path, seed) for seed in range(3)]
        assert sorted(sum(map(computed, processes), [])) == list(range(12))

    def test_kills_leave_no_half_written_stage(self, tmp_path):
        for seed in range(2):
            process = start(tmp_path, seed)
            for _ in range(1 + seed):
                process.stdout.readline()
            process.kill()  # while it writes
            process.communicate()
        there = {number for number in range(12) if {"stage": number} in StageCache(tmp_path)}
        assert set(computed(start(tmp_path, 9))) == set(range(12)) - there

    def test_a_damaged_file_counts_as_missing(self, tmp_path):
        cache, stage = StageCache(tmp_path), Counter()
        cache.get("a", stage)
        path = cache.path("a")
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.warns(UserWarning, match=f"{path} is damaged"):
            cache.get("a", stage)
        assert stage.count == 2 and "a" in cache

    def test_another_process_gets_the_folder_and_not_the_memory(self, cache):
        cache.put("a", StageResult([], {}))
        assert ("a" in pickle.loads(pickle.dumps(cache))) == (cache.folder is not None)


class TestEnvironment:
    def test_settings_of_keras(self):
        """Whatever changes numbers for all of a process; a new setting of Keras fails here."""
        before = environment()
        others = {
            "epsilon": 1e-3,
            "floatx": "float16",
            "image_data_format": "channels_first",
            "max_epochs": 2,
            "max_steps_per_epoch": 3,
            "dtype_policy": "mixed_bfloat16",
        }
        for name, other in others.items():
            value = getattr(keras.config, name)()
            try:
                getattr(keras.config, f"set_{name}")(other)
                assert environment() != before, name
            finally:
                getattr(keras.config, f"set_{name}")(value)
            assert environment() == before
        # How errors are shown, and what only attention, NNX and conversions read.
        unread = {"interactive_logging", "traceback_filtering", "flash_attention", "unsafe"}
        unread |= {"nnx", "backend", "dtype_policy", "default_device"}
        names = {it for it in dir(keras.config) if not it.startswith("_")}
        strange = [it for it in names - set(others) if not any(part in it for part in unread)]
        assert {it.removeprefix("set_") for it in strange} <= set(others)

    @pytest.mark.parametrize("module", [keras, np])
    def test_versions_and_the_backend(self, module, monkeypatch):
        before = environment()
        assert before["backend"] == keras.backend.backend()
        monkeypatch.setattr(module, "__version__", "0")
        assert environment() != before
