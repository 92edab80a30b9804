"""Tests that TensorFlow's advice about tracing is hidden where the package predicts, only there."""

import logging

import keras
import pytest

from csdl_keras._utils.quiet_tracing import quiet_tracing
from tests.support.fresh_process import run_python

LOGGER = logging.getLogger("tensorflow")
MANY_MODELS = """
import logging, keras, numpy as np, csdl_keras as csdl

told, handler = [], logging.Handler()
handler.emit = lambda record: told.append(record.getMessage())
logging.getLogger("tensorflow").addHandler(handler)
x, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 3
for _ in range(4):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "softmax")])
    csdl.decide(csdl.calibrate(model, x, y), x)
print([message for message in told if "retracing" in message])
"""
MESSAGE = "5 out of the last 5 calls to %s triggered tf.function retracing. Tracing is expensive"


@pytest.fixture
def told():
    """The messages of TensorFlow's logger, which does not hand them to pytest."""
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())
    LOGGER.addHandler(handler)
    # Another test, or the environment, may have raised it.
    level = LOGGER.level
    LOGGER.setLevel("WARNING")
    yield records
    LOGGER.setLevel(level)
    LOGGER.removeHandler(handler)


def test_only_this_message_and_only_within(told):
    with quiet_tracing():
        with quiet_tracing():
            LOGGER.warning(MESSAGE, "f")
        LOGGER.warning(MESSAGE, "f")
        LOGGER.warning("another")
    assert told == ["another"]
    LOGGER.warning(MESSAGE, "f")
    assert len(told) == 2


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="it is TensorFlow's warning")
def test_many_models_decide_and_are_calibrated():
    # In a fresh process, since TensorFlow warns twice at most.
    assert run_python(MANY_MODELS) == "[]\n"
