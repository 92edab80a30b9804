import numpy as np
import pytest

from csdl_keras import output_kind
from csdl_keras.models import convnet
from tests.support.testing import TestCase, to_numpy

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(4, 8, 8, 1)).astype("float32")


class TestConvnet(TestCase):
    @pytest.mark.parametrize(
        ("shape", "output"),
        [((28, 20, 3), "cost"), ((3, 50, 1), "probability"), ((1, 1, 2), "cost")],
    )
    def test_images_of_any_size(self, shape, output):
        model = convnet(shape, 5, filters=(4, 6, 8), output=output)
        outputs = model(RNG.uniform(size=(3, *shape)))
        assert tuple(outputs.shape) == (3, 5) and output_kind(model) == output
        self.assertFinite(outputs)

    def test_value_range(self):
        """A network for other values outputs what it does for those from 0 to 1."""
        models = [
            convnet((8, 8, 1), 3, filters=(4, 6), seed=0, value_range=values)
            for values in ((0, 1), (0, 255), (-3, 2))
        ]
        expected = to_numpy(models[0](X))
        self.assertAllClose(models[1](255 * X), expected, atol=1e-5)
        self.assertAllClose(models[2](5 * X - 3), expected, atol=1e-5)
