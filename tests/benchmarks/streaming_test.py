"""Streams longer than memory: what pre-training and training keep does not grow with them."""

import pytest

from tests.benchmarks.conftest import FOLDER
from tests.support.fresh_process import REPOSITORY, run_python

CODE = """
import streaming
for batches in (10, 40):
    streaming.train(streaming.make_stream({kind!r}, batches))
    print(streaming.peak_gigabytes())
"""


@pytest.mark.slow
@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("kind", ["PyDataset", "tf.data"])
def test_memory_does_not_grow_with_the_stream(kind):
    """A stream four times as long, 30 batches of 3 MB more, in the memory of the first."""
    if kind == "tf.data":
        pytest.importorskip("tensorflow")
    printed = run_python(CODE.format(kind=kind), PYTHONPATH=f"{REPOSITORY}:{FOLDER}")
    short, long = map(float, printed.split()[-2:])
    assert long - short < 0.05


def test_table_and_size_of_batches(program):
    streaming = program("streaming")
    row = dict(zip(streaming.FIELDS, ("tf.data", 2.0, "30.0", "10.0", "0.5"), strict=True))
    assert streaming.table([row]).splitlines()[-1] == "| tf.data | 2 | 30 | 3.0 | 0.50 | 0.25 |"
    size = sum(array.nbytes for array in streaming.make_stream("PyDataset", 3)[0]) / 1e9
    assert size == pytest.approx(streaming.BATCH_GIGABYTES)
