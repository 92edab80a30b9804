import dataclasses

import numpy as np
import pytest

from csdl_keras.datasets import grayscale, imbalance, subset
from tests.datasets.helpers import SPLITS, hashes, labels, toy_data


class TestImbalance:
    @pytest.mark.parametrize(
        "arguments,rare,left", [({}, 4, 0.3), ({"seed": 7, "fraction": 0.5, "num_rare": 1}, 1, 0.5)]
    )
    def test_counts(self, arguments, rare, left):
        data = toy_data(per_class=100, num_classes=10)
        thinned = imbalance(data, **arguments)
        classes = np.random.default_rng(arguments.get("seed", 0)).choice(10, rare, replace=False)
        for split, size in zip(SPLITS, (60, 20, 20), strict=True):
            expected = np.full(10, size)
            expected[classes] = round(left * size)
            np.testing.assert_array_equal(np.bincount(labels(thinned, split)), expected)
        assert (thinned.imbalanced, data.imbalanced, len(data.y_train)) == (True, False, 600)
        assert (thinned.name, thinned.num_classes) == ("toy", 10)

    def test_remaining_examples_keep_their_order(self):
        data = toy_data()
        thinned, again, other = (imbalance(data, seed=seed) for seed in (1, 1, 2))
        for split in SPLITS:
            before, after = hashes(data, split), hashes(thinned, split)
            assert after == [image for image in before if image in set(after)]
            assert after == hashes(again, split)
        assert hashes(thinned, "train") != hashes(other, "train")


class TestSubset:
    def test_sizes_and_examples(self):
        data, small, again, other = toy_data(), *(subset(toy_data(), 40, s) for s in (0, 0, 1))
        assert [len(hashes(small, split)) for split in SPLITS] == [30, 10, 20]
        for split in SPLITS:
            assert set(hashes(small, split)) <= set(hashes(data, split))
        assert hashes(small, "test") == hashes(data, "test")
        assert hashes(small, "train") == hashes(again, "train")
        assert set(hashes(small, "train")) != set(hashes(other, "train"))

    def test_classes_keep_their_proportions(self):
        data = imbalance(toy_data(per_class=100, num_classes=10))
        small = subset(data, len(data.y_train_val) // 2)
        counts = np.bincount(small.y_train)
        np.testing.assert_allclose(counts, np.bincount(data.y_train) / 2, atol=1.0)
        assert small.imbalanced

    @pytest.mark.parametrize("size", [16, 81])
    def test_errors(self, size):
        match = f"`train_size` to be .* at least 20 and at most 80; received {size}"
        with pytest.raises(ValueError, match=match):
            subset(toy_data(), size)


class TestGrayscale:
    def test_weights(self):
        data, rng = toy_data(), np.random.default_rng(0)
        sizes = {f"x_{split}": len(labels(data, split)) for split in SPLITS}
        images = {it: rng.random((sizes[it], 2, 3, 3), dtype="float32") for it in sizes}
        data = dataclasses.replace(data, **images)
        gray = grayscale(data)
        for split in SPLITS:
            expected = getattr(data, f"x_{split}").astype("float64") @ [0.299, 0.587, 0.114]
            found = getattr(gray, f"x_{split}")
            assert found.dtype == np.float32 and found.shape[1:] == (2, 3, 1)
            np.testing.assert_allclose(found[..., 0], expected, atol=1e-6)
            np.testing.assert_array_equal(labels(gray, split), labels(data, split))
