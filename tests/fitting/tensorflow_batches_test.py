"""Batches as datasets of TensorFlow."""

import hypothesis
import keras
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras import ShuffledBatches
from csdl_keras.fitting import _tensorflow_batches as tensorflow_batches
from tests.support.testing import to_numpy

ON_TENSORFLOW = keras.backend.backend() == "tensorflow"
only_tensorflow = pytest.mark.skipif(not ON_TENSORFLOW, reason="datasets of TensorFlow")


def assert_same_batches(data, batches):
    """Checks the number, order, types and values of batches."""
    found = [keras.tree.map_structure(to_numpy, batch) for batch in data]
    assert len(data) == len(found) == len(batches)
    for one, other in zip(keras.tree.flatten(found), keras.tree.flatten(batches), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@only_tensorflow
class TestShuffled:
    @hypothesis.given(
        st.integers(1, 40), st.integers(1, 9), st.none() | st.integers(1, 30), st.integers(1, 400)
    )
    @hypothesis.settings(max_examples=20)
    def test_same_batches(self, size, batch_size, steps, most_bytes):
        x = np.random.default_rng(size).normal(size=(size, 3))
        batches = ShuffledBatches(x, np.arange(size), None, batch_size, 1, steps)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tensorflow_batches, "_BYTES", most_bytes)
            data = tensorflow_batches.shuffled(batches)
        for epoch in (1, 0):
            batches.epoch = epoch
            assert_same_batches(data, [batches[index] for index in range(len(batches))])

    def test_structures_types_and_no_autotuning(self):
        x = {"pixels": np.arange(24, dtype="uint8").reshape(6, 2, 2), "b": [np.ones((6, 1)) > 0]}
        batches = ShuffledBatches(x, np.arange(6.0), np.ones(6, "float16"), batch_size=4)
        data = tensorflow_batches.shuffled(batches)
        assert_same_batches(data, list(batches))
        assert data.options().autotune.enabled is False

    def test_a_block_is_bounded(self, monkeypatch):
        batches = ShuffledBatches(np.ones((100, 2**18), "float32"), batch_size=2)
        counts, block = [], batches.block

        def noted(index, most):
            counts.append(most)
            return block(index, most)

        monkeypatch.setattr(batches, "block", noted)
        assert len(list(tensorflow_batches.shuffled(batches).take(3))) == 3
        assert set(counts) == {2}


@only_tensorflow
class TestInOrder:
    @hypothesis.given(st.integers(1, 90), st.integers(1, 40))
    @hypothesis.settings(max_examples=15)
    def test_same_batches(self, size, batch_size):
        x, y = np.random.default_rng(size).normal(size=(size, 3)), np.arange(size)
        expected = [
            (x[start : start + batch_size].astype("float32"), y[start : start + batch_size])
            for start in range(0, size, batch_size)
        ]
        assert_same_batches(tensorflow_batches.in_order((x, y), batch_size), expected)

    def test_blocks_have_memory_of_their_own(self, monkeypatch):
        """TensorFlow may write into what it is given."""
        blocks = []
        monkeypatch.setattr(
            tensorflow_batches,
            "_dataset",
            lambda arrays, batch_size, number, block, most: blocks.append(block(0, most)[0]),
        )
        arrays = np.ones((90, 3), "float32"), np.arange(90)
        tensorflow_batches.in_order(arrays)
        tensorflow_batches.shuffled(ShuffledBatches(*arrays))
        for block in blocks:
            assert len(block[0]) == 90
            assert not any(np.shares_memory(*pair) for pair in zip(block, arrays, strict=True))


def test_other_backends_and_arrays_without_numbers():
    words = np.array(["a", "b"])
    for arrays in (
        [words, np.ones(2)],
        *([] if ON_TENSORFLOW else [[np.ones((3, 2)), np.ones(3)]]),
    ):
        batches = ShuffledBatches(*arrays)
        assert tensorflow_batches.shuffled(batches) is batches
        assert tensorflow_batches.in_order(arrays) is arrays
    lists = ([1.0, 2.0], [0, 1])
    assert tensorflow_batches.in_order(lists) is lists
