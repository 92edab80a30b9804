"""Tests of the mean over shifted copies of an image."""

import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.models import convnet, expected_cost_model, view_average
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

    def test_parts_of_a_batch_do_not_matter(self):
        model = view_average(convnet((8, 7, 1), 3, filters=(4, 6), seed=0))
        one_by_one = model.predict(IMAGES, batch_size=1, verbose=0)
        self.assertAllClose(model.predict(IMAGES, batch_size=4, verbose=0), one_by_one, atol=1e-6)

    def test_probabilities_and_costs_of_a_cost_model(self):
        body = convnet((8, 7, 1), 3, filters=(4, 6), output="features", seed=0)
        whole = expected_cost_model(body, [[0, 1, 5], [2, 0, 1], [4, 3, 0]], seed=1)
        views = image_loops.views(IMAGES).reshape(10, *IMAGES.shape)[:5]
        said = [whole(view) for view in views]
        probabilities = np.mean([to_numpy(of["probability"]) for of in said], axis=0)
        costs = np.exp(np.mean([to_numpy(of["class_costs"]) for of in said], axis=0))
        model = view_average(whole.cost_model())
        for averaged in (model, csdl.calibrate(model, IMAGES, [0, 1, 2, 0, 1], spread=1e-6)):
            expected = np.einsum("nk,nkd->nd", probabilities, costs)
            self.assertAllClose(averaged(IMAGES), expected, rtol=1e-4)

    def test_a_model_of_costs(self):
        with pytest.raises(ValueError, match="received .* outputs costs"):
            view_average(convnet((8, 7, 1), 3, filters=(4,), output="cost"))
