"""Batches as datasets of TensorFlow."""

import hypothesis
import keras
import numpy as np
import pytest
from hypothesis import strategies as st

from csdl_keras import ShuffledBatches
from csdl_keras.fitting import _tensorflow_batches as tensorflow_batches
from tests.testing import to_numpy

ON_TENSORFLOW = keras.backend.backend() == "tensorflow"
only_tensorflow = pytest.mark.skipif(not ON_TENSORFLOW, reason="datasets of TensorFlow")


def assert_same_batches(data, batches):
    """Asserts the same batches, in number, order, type and values."""
    found = [keras.tree.map_structure(to_numpy, batch) for batch in data]
    assert len(data) == len(found) == len(batches)
    for one, other in zip(found, batches, strict=True):
        one, other = keras.tree.flatten(one), keras.tree.flatten(other)
        for left, right in zip(one, other, strict=True):
            assert left.dtype == right.dtype
            np.testing.assert_array_equal(left, right)


@only_tensorflow
class TestShuffled:
    @hypothesis.given(
        st.integers(1, 40), st.integers(1, 9), st.none() | st.integers(1, 30), st.integers(1, 400)
    )
    @hypothesis.settings(max_examples=100)
    def test_same_batches(self, size, batch_size, steps, most_bytes):
        x = np.random.default_rng(size).normal(size=(size, 3))
        batches = ShuffledBatches(x, np.arange(size), None, batch_size, 1, steps)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tensorflow_batches, "_BYTES", most_bytes)
            data = tensorflow_batches.shuffled(batches)
        for epoch in (1, 0):
            batches.epoch = epoch
            assert_same_batches(data, [batches[index] for index in range(len(batches))])

    def test_structures_and_types(self):
        x = {"pixels": np.arange(24, dtype="uint8").reshape(6, 2, 2), "b": [np.ones((6, 1)) > 0]}
        batches = ShuffledBatches(x, np.arange(6.0), np.ones(6, "float16"), batch_size=4)
        assert_same_batches(tensorflow_batches.shuffled(batches), list(batches))

    def test_an_epoch_does_not_wait_for_the_tuner_of_datasets(self):
        data = tensorflow_batches.shuffled(ShuffledBatches(np.ones((3, 2))))
        assert data.options().autotune.enabled is False

    def test_a_block_is_bounded(self):
        batches = ShuffledBatches(np.ones((100, 2**18), "float32"), batch_size=2)
        sizes = []
        original = batches.block
        batches.block = lambda *one: [part := original(*one), sizes.append(len(part[0][0]))][0]
        assert len(list(tensorflow_batches.shuffled(batches))) == 50
        assert max(sizes) == 4

    def test_words_stay_as_they_are(self):
        batches = ShuffledBatches(np.array(["a", "b"]))
        assert tensorflow_batches.shuffled(batches) is batches


@only_tensorflow
class TestInOrder:
    @hypothesis.given(st.integers(1, 90), st.integers(1, 40))
    @hypothesis.settings(max_examples=50)
    def test_same_batches(self, size, batch_size):
        x, y = np.random.default_rng(size).normal(size=(size, 3)), np.arange(size)
        expected = [
            (x[start : start + batch_size].astype("float32"), y[start : start + batch_size])
            for start in range(0, size, batch_size)
        ]
        assert_same_batches(tensorflow_batches.in_order((x, y), batch_size), expected)

    def test_tensorflow_is_not_given_the_memory_of_arrays(self, monkeypatch):
        blocks = []
        make = tensorflow_batches._dataset

        def noted(arrays, batch_size, number, block, most):
            blocks.append(block(0, most)[0])
            return make(arrays, batch_size, number, block, most)

        monkeypatch.setattr(tensorflow_batches, "_dataset", noted)
        arrays = np.ones((90, 3), "float32"), np.arange(90)
        tensorflow_batches.in_order(arrays)
        tensorflow_batches.shuffled(ShuffledBatches(*arrays))
        for block in blocks:
            assert len(block[0]) == 90
            assert not any(np.shares_memory(*pair) for pair in zip(block, arrays, strict=True))

    @pytest.mark.parametrize("arrays", [([1.0, 2.0], [0, 1]), (np.array(["a"]), np.ones(1))])
    def test_what_holds_no_numbers_stays_as_it_is(self, arrays):
        assert tensorflow_batches.in_order(arrays) is arrays


@pytest.mark.skipif(ON_TENSORFLOW, reason="other backends")
def test_elsewhere_nothing_changes():
    batches, arrays = ShuffledBatches(np.ones((3, 2))), (np.ones((3, 2)), np.ones(3))
    assert tensorflow_batches.shuffled(batches) is batches
    assert tensorflow_batches.in_order(arrays) is arrays
