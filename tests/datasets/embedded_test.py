import numpy as np
import pytest

from csdl_keras.datasets.embedded import EMBEDDED
from tests.datasets.helpers import SPLITS, labels, share_images

SHAPES = {"mnist_5k": ((28, 28, 1), (3500, 500, 1000)), "digits": ((8, 8, 1), (1100, 157, 540))}


@pytest.fixture(params=SHAPES, scope="module")
def data(request):
    return EMBEDDED[request.param]()


class TestEmbedded:
    def test_arrays(self, data):
        assert set(EMBEDDED) == set(SHAPES)
        shape, sizes = SHAPES[data.name]
        assert (data.input_shape, data.num_classes, data.imbalanced) == (shape, 10, False)
        for split, size in zip(SPLITS, sizes, strict=True):
            x, y = getattr(data, f"x_{split}"), labels(data, split)
            assert (x.shape, x.dtype) == ((size, *shape), np.float32)
            assert (y.shape, y.dtype) == ((size,), np.int64)
            assert x.min() == 0.0 and x.max() == 1.0 and 0.05 < x.mean() < 0.5
        np.testing.assert_array_equal(data.y_train_val, np.concatenate([data.y_train, data.y_val]))

    def test_splits(self, data):
        """They are disjoint, stratified and always the same."""
        assert not share_images(data)
        shares = [np.bincount(labels(data, split)) / len(labels(data, split)) for split in SPLITS]
        np.testing.assert_allclose(shares, [shares[0]] * 3, atol=0.02)
        again = EMBEDDED[data.name]()
        for split in SPLITS:
            np.testing.assert_array_equal(getattr(again, f"x_{split}"), getattr(data, f"x_{split}"))
            np.testing.assert_array_equal(labels(again, split), labels(data, split))
