import keras
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from csdl_keras.layers import RandomAffine, StandardizedConv2D
from csdl_keras.layers.images import transform
from tests.layers import image_loops
from tests.support.testing import TestCase, to_numpy

IMAGES = np.random.default_rng(0).uniform(size=(3, 6, 5, 2)).astype("float32")


class TestTransform(TestCase):
    def test_against_a_loop(self):
        cases = [
            (10.0, 1.0, 0.1, 0.0, (True, False)),
            (-33.0, 1.3, 0.0, 0.3, (False, True)),
            (180.0, 0.7, -0.2, -0.1, (True, True)),
        ]
        expected = [
            image_loops.affine(image, *case) for image, case in zip(IMAGES, cases, strict=True)
        ]
        *numbers, mirrored = (np.array(column) for column in zip(*cases, strict=True))
        found = transform(keras.ops.convert_to_tensor(IMAGES), *numbers, *mirrored.T)
        self.assertAllClose(found, np.stack(expected), atol=1e-5)

    @settings(max_examples=30)
    @given(
        rotation=st.floats(-180, 180), magnification=st.floats(0.3, 3), shift=st.floats(-0.5, 0.5)
    )
    def test_stays_between_the_pixels(self, rotation, magnification, shift):
        changed = to_numpy(transform(IMAGES, rotation, magnification, shift, -shift))
        assert changed.min() >= IMAGES.min() - 1e-6 and changed.max() <= IMAGES.max() + 1e-6


class TestRandomAffine(TestCase):
    def test_shifts_by_no_more_than_it_says(self):
        one = np.zeros((64, 9, 9, 1), "float32")
        one[:, 4, 4] = 1.0
        shifted = to_numpy(RandomAffine(2 / 9, seed=0)(one, training=True))
        assert np.all(shifted[:, [0, 8]] == 0) and np.all(shifted[:, :, [0, 8]] == 0)
        self.assertAllClose(shifted.sum(axis=(1, 2, 3)), np.ones(64), atol=1e-4)
        centers = np.einsum("nijc,i->n", shifted, np.arange(9.0))
        assert centers.min() < 2.5 and centers.max() > 5.5

    def test_mirrors_half_of_the_images(self):
        images = np.tile(IMAGES[:1], (400, 1, 1, 1))
        changed = to_numpy(RandomAffine(horizontal_flip=True, seed=0)(images, training=True))
        mirrored = np.abs(changed - images[:, :, ::-1]).max(axis=(1, 2, 3)) < 1e-5
        kept = np.abs(changed - images).max(axis=(1, 2, 3)) < 1e-5
        assert np.all(mirrored | kept) and 150 < mirrored.sum() < 250

    def test_draws_for_each_image(self):
        images = np.tile(IMAGES[:1], (20, 1, 1, 1))
        changed = to_numpy(RandomAffine(0.2, 20, 0.2, seed=0)(images, training=True))
        assert np.abs(changed[1:] - changed[:1]).max(axis=(1, 2, 3)).min() > 0

    def test_integers_are_interpolated(self):
        bytes_ = (255 * IMAGES).astype("uint8")
        expected = transform(bytes_.astype("float32"), rotation=20.0)
        self.assertAllClose(transform(bytes_, rotation=20.0), expected)
        layer = RandomAffine(rotation=20, seed=0)
        assert np.unique(to_numpy(layer(bytes_, training=True)) % 1).size > 10


class TestStandardizedConv2D(TestCase):
    def test_scale_and_offset_of_kernels_do_not_matter(self):
        layer = StandardizedConv2D(4, 3, activation="relu")
        before = to_numpy(layer(IMAGES))
        kernel = to_numpy(layer.kernel)
        layer.kernel.assign(3.0 * kernel + 0.5)
        self.assertAllClose(layer(IMAGES), before, rtol=1e-3, atol=1e-4)
