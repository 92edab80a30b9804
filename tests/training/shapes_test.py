"""Shapes of inputs that are easily taken for others."""

import warnings

import keras
import numpy as np
import pytest

import csdl_keras as csdl

LABELS = np.arange(20) % 2
COSTS = [[0, 1], [2, 0]]


def planned(algorithm, *shape):
    """Checks the request; nothing is trained before the first result is asked for."""
    trainer = csdl.Trainer(np.ones((20, *shape)), LABELS, seed=0)
    trainer.train_all([(algorithm, COSTS)])


def test_gray_images_without_channels_are_noticed():
    message = r"x of shape \(N, 8, 9\) is taken as a table of 72 features; .* pass x\[..., None\]"
    with pytest.warns(UserWarning, match=message) as warned:
        planned("cost_model", 8, 9)
    assert [it.filename for it in warned if "72 features" in str(it.message)] == [__file__]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="x of shape")
        planned("dnn_bayes", 8, 9)
        planned("ensemble_bayes", 8, 9, 1)
        planned("ensemble_bayes", 72)


def test_images_with_channels_first_are_refused(monkeypatch):
    monkeypatch.setattr(keras.config, "image_data_format", lambda: "channels_first")
    for algorithm in ("ensemble_bayes", "cnn_bayes"):
        planned(algorithm, 8, 8, 3)
        with pytest.raises(ValueError, match="images of shape .N, height, width, channels."):
            planned(algorithm, 3, 8, 8)
    planned("dnn_bayes", 1, 8, 8)
