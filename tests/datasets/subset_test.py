import numpy as np
import pytest

from csdl_keras.datasets import imbalance, subset
from tests.datasets.helpers import SPLITS, hashes, toy_data


class TestSubset:
    def test_sizes_and_proportions(self):
        small = subset(toy_data(), 40)
        assert [len(hashes(small, split)) for split in SPLITS] == [30, 10, 20]
        np.testing.assert_array_equal(np.bincount(small.y_train), np.full(5, 6))
        np.testing.assert_array_equal(np.bincount(small.y_val), np.full(5, 2))

    def test_classes_keep_their_proportions(self):
        data = imbalance(toy_data(per_class=100, num_classes=10))
        small = subset(data, len(data.y_train_val) // 2)
        np.testing.assert_allclose(
            np.bincount(small.y_train), np.bincount(data.y_train) / 2, atol=1.0
        )
        assert small.imbalanced

    def test_examples_come_from_their_own_split(self):
        data, small = toy_data(), subset(toy_data(), 40)
        for split in SPLITS:
            assert set(hashes(small, split)) <= set(hashes(data, split))
        assert hashes(small, "test") == hashes(data, "test")

    def test_everything(self):
        data, small = toy_data(), subset(toy_data(), 80)
        for split in SPLITS:
            assert hashes(small, split) == hashes(data, split)

    def test_deterministic(self):
        first, again, other = (subset(toy_data(), 40, seed=seed) for seed in (1, 1, 2))
        assert hashes(first, "train") == hashes(again, "train")
        assert set(hashes(first, "train")) != set(hashes(other, "train"))

    @pytest.mark.parametrize("size", [20, 80])
    def test_the_smallest_and_the_largest(self, size):
        small = subset(toy_data(), size)
        assert len(small.y_train_val) == size
        assert set(small.y_val) == set(range(5))

    @pytest.mark.parametrize("size", [1, 19 - 3, 81])
    def test_sizes_out_of_range(self, size):
        with pytest.raises(ValueError, match=f"`train_size` from 20 .* to 80; received {size}"):
            subset(toy_data(), size)

    @pytest.mark.parametrize("arguments", [(0,), (1.5,), (40, -1)])
    def test_other_errors(self, arguments):
        with pytest.raises(ValueError, match="Expected `(train_size|seed)`"):
            subset(toy_data(), *arguments)
