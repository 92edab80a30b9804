"""Streams longer than memory: what pre-training and training keep does not grow with them."""

import importlib
import json

import pytest

from tests.support.fresh_process import REPOSITORY, run_python

FOLDER = REPOSITORY / "benchmarks"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs a checkout")


@pytest.fixture
def streaming(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("streaming")


@pytest.mark.parametrize("kind", ["PyDataset", pytest.param("tf.data", marks=pytest.mark.slow)])
def test_memory_does_not_grow_with_the_stream(kind):
    """A stream four times as long, 45 batches of 3 MB more, in the memory of the first."""
    if kind == "tf.data":
        pytest.importorskip("tensorflow")
    code = f"""
import json, sys; sys.path.insert(0, {str(FOLDER)!r})
import streaming

peaks = []
for batches in (15, 60):
    streaming.train(streaming.make_stream({kind!r}, batches))
    peaks.append(streaming.peak_gigabytes())
print(json.dumps(peaks))
"""
    short, long = json.loads(run_python(code).splitlines()[-1])
    assert long - short < 0.05


def test_table(streaming):
    row = dict(zip(streaming.FIELDS, ("tf.data", 2.0, "30.0", "10.0", "0.5"), strict=True))
    assert streaming.table([row]).splitlines()[-1] == "| tf.data | 2 | 30 | 3.0 | 0.50 | 0.25 |"


def test_streams_are_alike_in_size(streaming):
    pytest.importorskip("tensorflow")
    (x, costs), *others = streaming.make_stream("tf.data", 3)
    own = streaming.make_stream("PyDataset", 3)
    assert len(own) == 1 + len(others) == 3
    assert [array.shape for array in own[0]] == [tuple(x.shape), tuple(costs.shape)]
    assert sum(array.nbytes for array in own[0]) / 1e9 == pytest.approx(streaming.BATCH_GIGABYTES)
