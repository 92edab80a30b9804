"""Several steps in one execution: their number, and that results stay the same."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting.seeded_fit import executed_steps

TORCH = keras.backend.backend() == "torch"


@pytest.mark.parametrize(
    "examples,batch_size,steps_per_epoch,expected",
    [(50, 8, None, 7), (8, 8, None, 1), (1, 100, None, 1), (6400, 2, None, 32), (50, 8, 3, 3)],
)
def test_as_many_as_an_epoch_has(examples, batch_size, steps_per_epoch, expected):
    assert executed_steps(examples, batch_size, steps_per_epoch) == (1 if TORCH else expected)


def test_codes_of_lower_layers_are_computed_once_a_layer(monkeypatch, run_eagerly):
    computed = []
    predict = keras.Model.predict

    def counted(self, x, **arguments):
        computed.append(self.output_shape)
        return predict(self, x, **arguments)

    monkeypatch.setattr(keras.Model, "predict", counted)
    model = csdl.models.mlp((6,), 3, (5, 4), output="cost", seed=0)
    csdl.pretrain(model, np.ones((50, 6)), epochs=2, batch_size=8, seed=0, verbose=0)
    assert computed == [(None, 5)]  # For the second layer; the first one reads the inputs.
