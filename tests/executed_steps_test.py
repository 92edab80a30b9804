"""Steps that run without a return to Python: how many, and that they change nothing."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.fitting.seeded_fit import executed_steps
from tests.weights import assert_same_weights

TORCH = keras.backend.backend() == "torch"
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(50, 6)).astype("float32")  # six batches of 8, and one of 2
COSTS = RNG.uniform(size=(50, 3)) * (1 - np.eye(3))[RNG.integers(3, size=50)]


@pytest.mark.parametrize(
    "examples,batch_size,steps_per_epoch,expected",
    [(50, 8, None, 7), (8, 8, None, 1), (1, 100, None, 1), (6400, 2, None, 32), (50, 8, 3, 3)],
)
def test_as_many_as_an_epoch_has(examples, batch_size, steps_per_epoch, expected):
    assert executed_steps(examples, batch_size, steps_per_epoch) == (1 if TORCH else expected)


def pretrained(**arguments):
    model = csdl.models.mlp((6,), 3, (5, 4), output="cost", seed=0)
    choices = {"beta": 0.25, "epochs": 3, "batch_size": 8, "seed": 0, "verbose": 0}
    csdl.pretrain(model, X, costs=COSTS, **choices, **arguments)
    return model.get_weights()


@pytest.mark.skipif(TORCH, reason="PyTorch's fit has no other number than 1")
@pytest.mark.parametrize("steps", [2, 7, 32])
def test_weights_are_those_of_single_steps(steps):
    assert_same_weights(pretrained(steps_per_execution=steps), pretrained(steps_per_execution=1))


@pytest.mark.skipif(TORCH, reason="PyTorch does not compile")
def test_nothing_is_compiled_after_a_layers_first_epoch(monkeypatch):
    """A compiled layer is called no more: its operations run, which were recorded."""
    calls, seen = [], []
    call = csdl.CAE.call

    def counted(self, *arguments, **more):
        calls.append(self.name)
        return call(self, *arguments, **more)

    class Epochs(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen.append((epoch, len(calls)))

    monkeypatch.setattr(csdl.CAE, "call", counted)
    pretrained(callbacks=[Epochs()])
    assert [epoch for epoch, _ in seen] == [0, 1, 2] * 2
    for layer in (seen[:3], seen[3:]):
        assert layer[0][1] == layer[1][1] == layer[2][1]
    assert 0 < seen[0][1] < seen[3][1]


def test_codes_of_lower_layers_are_computed_once_a_layer(monkeypatch):
    computed = []
    predict = keras.Model.predict

    def counted(self, x, **arguments):
        computed.append(self.output_shape)
        return predict(self, x, **arguments)

    monkeypatch.setattr(keras.Model, "predict", counted)
    pretrained()
    assert computed == [(None, 5)]  # for the second layer; the first one reads inputs
