"""Tests of the choice of what images are changed by in training."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.layers import RandomAffine
from csdl_keras.training.augmentation import ChooseAugmentation, chosen_strengths

RNG = np.random.default_rng(0)


def by_side(images):
    """Class 1 has its light in the right half: mirrored images look like the other class."""
    right = images[:, :, 5:].sum(axis=(1, 2, 3)) > images[:, :, :5].sum(axis=(1, 2, 3))
    return np.where(right[:, None], [0.01, 0.99], [0.99, 0.01])


def by_brightness(images):
    """Class 1 is bright, however it is turned."""
    return np.where(images.mean(axis=(1, 2, 3))[:, None] > 0.5, [0.01, 0.99], [0.99, 0.01])


def halves(size):
    """Images with light in one half, and labels that say in which."""
    labels = RNG.integers(2, size=size)
    images = np.zeros((size, 10, 10, 1), "float32")
    for image, label in zip(images, labels, strict=True):
        image[:, 5 * label : 5 * label + 5] = RNG.uniform(0.5, 1)
    return images, labels


def shades(size):
    labels = RNG.integers(2, size=size)
    shade = 0.6 * labels + RNG.uniform(0, 0.3, size=size)
    return np.broadcast_to(shade[:, None, None, None], (size, 10, 10, 1)).astype("float32"), labels


@pytest.mark.parametrize(
    ("images", "predict", "expected"),
    [
        (halves, by_side, [10, 0.1, 0, 1]),
        (shades, by_brightness, [180, 0.1, 1, 1]),
        (shades, lambda images: 0.4 * by_brightness(images) + 0.3, [180, 0, 1, 1]),
        (halves, lambda images: np.full((len(images), 2), 0.5), [0, 0, 0, 0]),
    ],
    ids=["side", "brightness", "unsure", "nothing"],
)
def test_what_classes_survive(images, predict, expected):
    """Small changes only if the network knows much, none if it knows nothing."""
    assert chosen_strengths(predict, *images(100)) == pytest.approx(expected)


def test_rare_classes_count_as_much():
    """A flip that only a rare class does not survive is no loss on average over examples."""
    x, y = halves(200)
    rare = np.flatnonzero(y == 1)[:5]
    kept = np.concatenate([np.flatnonzero(y == 0), rare])

    def predict(images):
        p = by_side(images)
        p[: (y[kept] == 0).sum()] = [0.99, 0.01]
        return p

    assert chosen_strengths(predict, x[kept], y[kept])[2] == 0


def test_the_layer_gets_the_strengths_when_the_epoch_begins(run_eagerly):
    x, y = shades(60)
    inputs = keras.Input((10, 10, 1))
    mean = keras.layers.GlobalAveragePooling2D()(RandomAffine(0.1, seed=0)(inputs))
    model = keras.Model(inputs, keras.layers.Dense(2, "softmax")(mean))
    model.layers[-1].set_weights([np.array([[-20.0, 20.0]]), np.array([9.0, -9.0])])
    model.compile(keras.optimizers.SGD(1e-6), "sparse_categorical_crossentropy")
    seen = []
    watch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda *_: seen.append(keras.ops.convert_to_numpy(layer.strengths))
    )
    layer = model.layers[1]
    model.fit(x, y, epochs=2, callbacks=[ChooseAugmentation(x, y, 1), watch], verbose=0)
    np.testing.assert_allclose(seen, [[0.1, 0, 0, 0, 0], [0.1, 180, 0.1, 1, 1]], atol=1e-6)


@pytest.mark.slow
def test_images_of_any_scale():
    """Bytes, and images divided twice, are learned as images in [0, 1] are."""
    labels = np.arange(240) % 2
    images = RNG.uniform(0, 0.2, size=(240, 6, 6, 1)).astype("float32")
    images[labels == 1, :, ::2] += 0.8
    for scaled in ((255 * images).astype("uint8"), images / 255):
        held_out = scaled[160:200], labels[160:200]
        data = scaled[:160], labels[:160], 1.0 - np.eye(2)
        model = csdl.train(*data, validation_data=held_out, epochs=4, seed=0)
        assert np.mean(csdl.decide(model, scaled[200:]) == labels[200:]) > 0.95


def test_labels_are_smoothed_only_before_a_calibration():
    """Without one, smoothed labels would leave probabilities too low."""
    x, y = shades(60)
    plain = csdl.Algorithm("plain", "plain", "auto", "none", "nll", "bayes")
    for held_out, algorithm, share in (
        ((x[40:], y[40:]), plain, 0),
        ((x[40:], y[40:]), csdl.ALGORITHMS["calibrated_bayes"], 0.05),
        (None, csdl.ALGORITHMS["calibrated_bayes"], 0),
    ):
        (planned,) = csdl.Trainer(x[:40], y[:40], held_out)._plan(algorithm, 1.0 - np.eye(2))
        assert planned.smoothing == share


def test_images_of_one_row(run_eagerly):
    x, y = RNG.uniform(size=(45, 1, 4, 1)).astype("float32"), np.arange(45) % 3
    held_out = x[30:], y[30:]
    model = csdl.train(x[:30], y[:30], 1.0 - np.eye(3), validation_data=held_out, epochs=1, seed=0)
    assert model.predict(x, verbose=0).shape == (45, 3)
