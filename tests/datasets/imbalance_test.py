import numpy as np
import pytest

from csdl_keras.datasets import imbalance
from tests.datasets.helpers import SPLITS, hashes, labels, toy_data


class TestImbalance:
    @pytest.mark.parametrize("seed", [0, 1, 7])
    def test_counts_of_the_paper(self, seed):
        data = toy_data(per_class=100, num_classes=10)
        thinned = imbalance(data, seed=seed)
        rare = np.random.default_rng(seed).choice(10, 4, replace=False)
        for split, size in zip(SPLITS, (60, 20, 20), strict=True):
            expected = np.full(10, size)
            expected[rare] = round(0.3 * size)
            np.testing.assert_array_equal(np.bincount(labels(thinned, split)), expected)

    def test_other_shares_and_numbers(self):
        thinned = imbalance(toy_data(), seed=2, fraction=0.5, num_rare=1)
        (rare,) = np.random.default_rng(2).choice(5, 1, replace=False)
        expected = np.full(5, 12)
        expected[rare] = 6
        np.testing.assert_array_equal(np.bincount(thinned.y_train), expected)

    def test_what_stays_keeps_its_order(self):
        data = toy_data()
        thinned = imbalance(data)
        for split in SPLITS:
            before, after = hashes(data, split), hashes(thinned, split)
            assert len(after) < len(before)
            assert after == [image for image in before if image in set(after)]

    def test_deterministic(self):
        first, again, other = (imbalance(toy_data(), seed=seed) for seed in (1, 1, 2))
        for split in SPLITS:
            assert hashes(first, split) == hashes(again, split)
        assert hashes(first, "train") != hashes(other, "train")

    def test_the_original_is_untouched(self):
        data = toy_data()
        thinned = imbalance(data)
        assert thinned.imbalanced
        assert not data.imbalanced
        assert len(data.y_train) == 60
        assert (thinned.name, thinned.num_classes) == ("toy", 5)

    @pytest.mark.parametrize(
        "arguments,match",
        [
            ({"seed": -1}, "Expected `seed`"),
            ({"fraction": -0.1}, "Expected `fraction`"),
            ({"fraction": 1.0}, "Expected `fraction` below 1"),
            ({"num_rare": 0}, "Expected `num_rare`"),
            ({"num_rare": 6}, "Expected at least num_rare=6 classes; 'toy' has 5"),
        ],
        ids=str,
    )
    def test_errors(self, arguments, match):
        with pytest.raises(ValueError, match=match):
            imbalance(toy_data(), **arguments)

    def test_only_once(self):
        with pytest.raises(ValueError, match="'toy' is imbalanced already"):
            imbalance(imbalance(toy_data()))
