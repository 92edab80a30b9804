import dataclasses

import numpy as np
import pytest

from csdl_keras.datasets import grayscale
from tests.datasets.helpers import SPLITS, hashes, labels, toy_data


def colored(channels):
    """Toy data whose images are random, 2x3 pixels."""
    data, rng = toy_data(), np.random.default_rng(0)
    images = {
        f"x_{split}": rng.random((len(labels(data, split)), 2, 3, channels), dtype="float32")
        for split in SPLITS
    }
    return dataclasses.replace(data, **images)


class TestGrayscale:
    def test_weights(self):
        data = colored(3)
        gray = grayscale(data)
        for split in SPLITS:
            expected = getattr(data, f"x_{split}").astype("float64") @ [0.299, 0.587, 0.114]
            found = getattr(gray, f"x_{split}")
            assert found.dtype == np.float32
            assert found.shape[1:] == (2, 3, 1)
            np.testing.assert_allclose(found[..., 0], expected, atol=1e-6)
            np.testing.assert_array_equal(labels(gray, split), labels(data, split))
        assert (gray.name, gray.num_classes, gray.input_shape) == ("toy", 5, (2, 3, 1))

    @pytest.mark.parametrize("value", [0.0, 1.0])
    def test_black_and_white_stay(self, value):
        data = toy_data()
        white = np.full((20, 2, 2, 3), value, dtype="float32")
        train = np.repeat(white, 3, axis=0)
        gray = grayscale(dataclasses.replace(data, x_train=train, x_val=white, x_test=white))
        np.testing.assert_array_equal(gray.x_test, white[..., :1])

    def test_gray_images_stay(self):
        data = colored(1)
        for split in SPLITS:
            assert hashes(grayscale(data), split) == hashes(data, split)

    def test_other_channels(self):
        with pytest.raises(ValueError, match=r"1 or 3 channels; received 'toy'.*\(2, 3, 4\)"):
            grayscale(colored(4))
