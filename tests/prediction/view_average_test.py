import numpy as np
import pytest

from csdl_keras.models import convnet, view_average
from tests.layers import image_loops
from tests.support.testing import TestCase, to_numpy

IMAGES = np.random.default_rng(0).uniform(size=(5, 8, 7, 1)).astype("float32")


class TestViewAverage(TestCase):
    @pytest.mark.parametrize(("pixels", "flip"), [(1, True), (1, False), (0, True)])
    def test_mean_of_what_the_model_says_of_each_view(self, pixels, flip):
        model = convnet((8, 7, 1), 3, filters=(4, 6), seed=0)
        views = image_loops.views(IMAGES).reshape(10, *IMAGES.shape)
        chosen = views[:: 1 if pixels else 5][: None if flip else (5 if pixels else 1)]
        expected = np.mean([to_numpy(model(view)) for view in chosen], axis=0)
        self.assertAllClose(view_average(model, pixels, flip)(IMAGES), expected, atol=1e-6)
