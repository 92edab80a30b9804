import numpy as np
import pytest

from csdl_keras.datasets.embedded import EMBEDDED
from tests.datasets.helpers import SPLITS, labels, share_images

SHAPES = {
    "mnist_5k": ((28, 28, 1), (3500, 500, 1000)),
    "digits": ((8, 8, 1), (1100, 157, 540)),
}


@pytest.fixture(params=SHAPES, scope="module")
def data(request):
    return EMBEDDED[request.param]()


class TestEmbedded:
    def test_names(self):
        assert set(EMBEDDED) == set(SHAPES)

    def test_shapes_and_types(self, data):
        shape, sizes = SHAPES[data.name]
        assert data.input_shape == shape
        assert data.num_classes == 10
        assert not data.imbalanced
        for split, size in zip(SPLITS, sizes, strict=True):
            x, y = getattr(data, f"x_{split}"), getattr(data, f"y_{split}")
            assert x.shape == (size, *shape)
            assert y.shape == (size,)
            assert x.dtype == np.float32
            assert y.dtype == np.int64

    def test_ranges(self, data):
        for split in SPLITS:
            x = getattr(data, f"x_{split}")
            assert x.min() == 0.0
            assert x.max() == 1.0
            assert 0.05 < x.mean() < 0.5
            assert set(getattr(data, f"y_{split}")) == set(range(10))

    def test_splits_are_disjoint_and_complete(self, data):
        assert not share_images(data)
        images = np.concatenate([getattr(data, f"x_{split}") for split in SPLITS])
        assert len(np.unique(images.reshape(len(images), -1), axis=0)) == len(images)

    def test_splits_are_stratified(self, data):
        shares = [np.bincount(labels(data, split)) / len(labels(data, split)) for split in SPLITS]
        everything = np.concatenate([labels(data, split) for split in SPLITS])
        for share in shares:
            np.testing.assert_allclose(share, np.bincount(everything) / len(everything), atol=0.01)

    def test_splits_are_always_the_same(self, data):
        again = EMBEDDED[data.name]()
        for split in SPLITS:
            np.testing.assert_array_equal(getattr(again, f"x_{split}"), getattr(data, f"x_{split}"))
            np.testing.assert_array_equal(labels(again, split), labels(data, split))

    def test_labels_belong_to_images(self, data):
        """The nearest mean image of a class, from training, tells most test digits."""
        means = np.stack(
            [data.x_train[data.y_train == label].mean(axis=0).ravel() for label in range(10)]
        )
        x = data.x_test.reshape(len(data.x_test), 1, -1)
        nearest = ((x - means) ** 2).sum(axis=2).argmin(axis=1)
        assert np.mean(nearest == data.y_test) > 0.75

    def test_labels_of_training_and_validation_together(self, data):
        assert len(data.y_train_val) == len(data.y_train) + len(data.y_val)
        np.testing.assert_array_equal(data.y_train_val[: len(data.y_train)], data.y_train)
        np.testing.assert_array_equal(data.y_train_val[len(data.y_train) :], data.y_val)
