"""The cache of stages: what finds what, and what crowds and kills do to it."""

import random
import signal
import subprocess
import sys
import time

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import csdl_keras
from csdl_keras._utils.array_file import fingerprint
from csdl_keras.fitting.stage_cache import StageCache
from tests.support.fresh_process import run_python

# Asks for stages in a random order; says on stdout which of them it computed.
# Without the package's own imports, which take seconds.
WORKER = """
import random
import sys
import time
import types
import numpy as np

package = sys.modules["csdl_keras"] = types.ModuleType("csdl_keras")
package.__path__ = {package!r}
from csdl_keras.fitting.stage_cache import StageCache

cache = StageCache({folder!r})
order = list(range({stages}))
random.Random({seed}).shuffle(order)

def compute(number):
    time.sleep({seconds})
    print("computed", number, flush=True)
    return [np.full({size}, number), np.arange(number)], {{"number": number}}

for number in order:
    result = cache.get({{"stage": number}}, lambda: compute(number))
    assert (result.arrays[0] == number).all() and result.info == {{"number": number}}, number
print("finished", flush=True)
"""


def start(folder, seed, stages=12, seconds=0.02, size=10):
    code = WORKER.format(
        folder=str(folder),
        seed=seed,
        stages=stages,
        seconds=seconds,
        size=size,
        package=list(csdl_keras.__path__),
    )
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def computed(output):
    return sorted(int(line.split()[1]) for line in output.splitlines() if "computed" in line)


class Counter:
    """A stage that counts how often it has been computed."""

    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1
        return [np.arange(6.0).reshape(2, 3), np.array([True])], {"epochs": 3, "name": "a"}


@pytest.fixture(params=["memory", "folder"])
def cache(request, tmp_path):
    return StageCache(None if request.param == "memory" else tmp_path / "new" / "stages")


class TestGet:
    def test_computes_once(self, cache):
        stage = Counter()
        assert {"a": 1} not in cache and cache.find({"a": 1}) is None
        results = [cache.get({"a": 1}, stage) for _ in range(3)]
        assert stage.count == 1 and {"a": 1} in cache
        for result in [*results, cache.find({"a": 1})]:
            assert [array.tolist() for array in result.arrays] == [[[0, 1, 2], [3, 4, 5]], [True]]
            assert [array.dtype for array in result.arrays] == ["float64", "bool"]
            assert result.info == {"epochs": 3, "name": "a"}
            assert result.seconds == results[0].seconds >= 0

    def test_another_description_is_another_stage(self, cache):
        stage = Counter()
        descriptions = [{"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": None}, {"a": "1"}, {"a": [1]}]
        for description in descriptions:
            cache.get(description, stage)
        assert stage.count == len(descriptions)

    def test_a_stage_that_fails_leaves_nothing(self, cache):
        def fail():
            raise RuntimeError("no luck")

        with pytest.raises(RuntimeError, match="no luck"):
            cache.get({"a": 1}, fail)
        assert {"a": 1} not in cache
        assert cache.get({"a": 1}, Counter()).info["epochs"] == 3

    def test_stages_within_stages(self, cache):
        """As pre-training is run by the training that needs it."""

        def outer():
            return [cache.get({"inner": 1}, Counter()).arrays[0] + 1], {}

        assert cache.get({"outer": 1}, outer).arrays[0].max() == 6
        assert {"inner": 1} in cache

    def test_order_of_a_description_does_not_matter(self):
        assert StageCache.key({"a": 1, "b": 2}) == StageCache.key({"b": 2, "a": 1})

    def test_nan_is_no_description(self):
        with pytest.raises(ValueError):
            StageCache.key({"a": float("nan")})


class TestFolder:
    def test_found_by_another_process(self, tmp_path):
        StageCache(tmp_path).get({"a": 1}, Counter())
        code = (
            "from csdl_keras.fitting.stage_cache import StageCache\n"
            f"print(StageCache({str(tmp_path)!r}).find({{'a': 1}}).arrays[0].sum())"
        )
        assert run_python(code).split()[-1] == "15.0"

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
    def test_a_damaged_file_is_computed_anew(self, tmp_path, share):
        cache, stage = StageCache(tmp_path), Counter()
        cache.get({"a": 1}, stage)
        content = cache.path({"a": 1}).read_bytes()
        cache.path({"a": 1}).write_bytes(content[: int(share * len(content))])
        with pytest.warns(UserWarning, match="is damaged; its stage is computed anew"):
            assert cache.find({"a": 1}) is None
            assert cache.get({"a": 1}, stage).arrays[0].sum() == 15
        assert stage.count == 2 and cache.find({"a": 1}) is not None

    def test_the_process_moves_to_another_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        cache = StageCache("cache")
        cache.get({}, lambda: ([], {}))
        monkeypatch.chdir("/")
        assert {} in cache and cache.folder == tmp_path / "cache"

    def test_memory_has_no_path(self):
        with pytest.raises(ValueError, match="in memory"):
            StageCache().path({"a": 1})

    def test_processes_share_the_work(self, tmp_path):
        crowd = [start(tmp_path, seed) for seed in range(3)]
        outputs = [process.communicate(timeout=120)[0] for process in crowd]
        assert all("finished" in output for output in outputs)
        assert sorted(sum(map(computed, outputs), [])) == list(range(12))

    def test_kills_leave_no_half_written_stage(self, tmp_path):
        """Whatever is there after `kill -9` is whole, and the rest is computed later."""
        rng = random.Random(0)
        for seed in range(4):
            process = start(tmp_path, seed, stages=40, seconds=0.0, size=300_000)
            process.stdout.readline()  # it has begun
            time.sleep(rng.uniform(0.0, 0.1))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            cache = StageCache(tmp_path)
            there = [number for number in range(40) if {"stage": number} in cache]
            for number in there:
                assert cache.find({"stage": number}).info == {"number": number}
            assert len(there) < 40
        output = start(tmp_path, 9, stages=40, seconds=0.0).communicate(timeout=120)[0]
        assert "finished" in output
        assert computed(output) == [number for number in range(40) if number not in there]


class TestFingerprint:
    def test_contents_shape_and_type_count(self):
        array = np.arange(6, dtype="float32")
        others = [array + 1, array.reshape(2, 3), array.astype("float64"), array[:5], array[::-1]]
        assert len({fingerprint(it) for it in (array, *others)}) == 6
        assert fingerprint(array, array) != fingerprint(array)
        rows = array.reshape(2, 3)
        assert fingerprint(rows) == fingerprint(np.asfortranarray(rows))

    @hypothesis.given(st.integers(0, 5), st.sampled_from([1e-7, 1.0]))
    def test_any_change_shows(self, index, change):
        array = np.zeros(6)
        other = array.copy()
        other[index] += change
        assert fingerprint(array) != fingerprint(other)
        assert fingerprint(array) == fingerprint(array.copy())


class TestMemory:
    def test_results_are_copies(self):
        cache, array = StageCache(), np.arange(3.0)
        cache.get({"a": 1}, lambda: ([array], {"list": [1]})).info["list"].append(2)
        array[:] = 0
        for _ in range(2):
            found = cache.find({"a": 1})
            assert found.arrays[0].tolist() == [0, 1, 2] and found.info == {"list": [1]}
            found.arrays[0][:] = 5
            found.info["list"].append(3)

    def test_objects_have_no_fingerprint(self):
        with pytest.raises(ValueError, match="plain values; received dtype object"):
            fingerprint(np.array([object()]))
