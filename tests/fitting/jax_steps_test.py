"""Steps of JAX in one compiled loop."""

import keras
import numpy as np
import pytest

from csdl_keras import ShuffledBatches
from csdl_keras.fitting import _jax_steps
from csdl_keras.fitting.seeded_fit import seeded_fit
from csdl_keras.fitting.shuffled_batches import SeededEpochs

ON_JAX = keras.backend.backend() == "jax"
only_jax = pytest.mark.skipif(not ON_JAX, reason="steps of JAX")
INPUTS, CLASSES = 6, 4
LOSS = "sparse_categorical_crossentropy"
layers = keras.layers


def make_model(policy="float32", steps=32, **compile_arguments):
    """A network with all that a state may hold: masks, moving means, metrics, frozen weights."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((INPUTS,)),
            layers.Dense(8, activation="relu", dtype=policy, trainable=False),
            layers.Dropout(0.3, seed=1, dtype=policy),
            layers.BatchNormalization(dtype=policy),
            layers.Dense(CLASSES, activation="softmax", dtype=policy),
        ]
    )
    metrics = {"metrics": ["accuracy"], "weighted_metrics": ["accuracy"]}
    model.compile("adam", LOSS, **metrics, steps_per_execution=steps, **compile_arguments)
    return model


def two_inputs():
    keras.utils.set_random_seed(0)
    ends = [keras.Input((INPUTS,), name="left"), keras.Input((2,), name="right")]
    outputs = layers.Dense(CLASSES, "softmax")(layers.Concatenate()(ends))
    model = keras.Model(ends, outputs)
    model.compile("sgd", LOSS, steps_per_execution=32)
    return model


def convolutional():
    inner = keras.Sequential([layers.Conv1D(2, 3)])
    ends = [layers.Reshape((INPUTS, 1)), inner, layers.Flatten(), layers.Dense(CLASSES, "softmax")]
    return keras.Sequential([keras.Input((INPUTS,)), *ends])


class Widening(keras.Model):
    """A model whose variables change their type in a step."""

    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(CLASSES, "softmax")

    def call(self, inputs):
        return self.dense(inputs)

    def train_step(self, state, batch):
        logs, (trainable, *rest) = super().train_step(state, batch)
        return logs, ([it.astype("bfloat16") for it in trainable], *rest)


def data(number=203):
    """Inputs, labels and weights."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(number, INPUTS)).astype("float32")
    return x, rng.integers(CLASSES, size=number), rng.uniform(size=number).astype("float32")


@pytest.fixture
def loops(monkeypatch):
    """The number of batches that each loop takes; 0 stands for a step by itself."""
    taken = []
    blocks = _jax_steps._blocks

    def noted(*arguments):
        for block, count in blocks(*arguments):
            taken.append(count)
            yield block, count

    monkeypatch.setattr(_jax_steps, "_blocks", noted)
    return taken


class Steps(keras.callbacks.Callback):
    """Notes the calls for steps, and their losses."""

    def __init__(self):
        super().__init__()
        self.seen, self.losses = [], []

    def on_train_batch_begin(self, batch, logs=None):
        self.seen.append(("begin", batch))

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append(("end", batch))
        self.losses.append(float(logs["loss"]))


def assert_same_training(make, x, y, weights=None, steps=None, epochs=1, tolerance=1e-5):
    """Compares variables, histories and calls of callbacks with those of plain `fit`."""
    found = []
    for looped in (True, False):
        model, seen, batches = make(), Steps(), ShuffledBatches(x, y, weights, 10, 0, steps)
        if looped:
            _jax_steps.use_looped_steps(model)
        callbacks = [seen, SeededEpochs(batches)]
        history = model.fit(batches, epochs=epochs, callbacks=callbacks, shuffle=False, verbose=0)
        numbers = [*model.weights, *model.optimizer.variables, *history.history.values()]
        found.append(([*map(np.asarray, numbers), np.array(seen.losses)], seen.seen))
    assert found[0][1] == found[1][1]
    for one, other in zip(found[0][0], found[1][0], strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@only_jax
class TestLooped:
    @pytest.mark.parametrize(
        ("number", "most", "steps", "expected"),
        [
            (203, 8, None, [8, 8, 4, 1]),
            (203, 32, 30, [20, 1, 9]),
            (7, 2, None, [1]),
        ],
    )
    def test_same_training_as_step_by_step(self, loops, number, most, steps, expected):
        x, y, _ = data(number)
        assert_same_training(lambda: make_model(steps=most), x, y, steps=steps)
        assert loops == expected

    @pytest.mark.parametrize("policy", ["float32", "mixed_float16", "mixed_bfloat16"])
    def test_masks_weights_of_examples_and_precision(self, loops, policy):
        tolerance = 1e-5 if policy == "float32" else 2e-2
        assert_same_training(lambda: make_model(policy), *data(), epochs=3, tolerance=tolerance)
        assert loops == [20, 1] * 3

    def test_several_inputs(self, loops):
        x, y, _ = data()
        inputs = {"left": x, "right": x[:, :2].astype("float64")}
        assert_same_training(two_inputs, inputs, y, epochs=2)
        assert loops == [20, 1] * 2

    @pytest.mark.parametrize(
        ("most_bytes", "expected"),
        # A batch has 10 inputs of 6 numbers of 4 bytes and labels of 8 bytes; the last one is
        # smaller, so that several of its size would fit.
        [(800, [2] * 10 + [1]), (300, [0] * 20 + [1])],
    )
    def test_blocks_are_bounded(self, loops, monkeypatch, most_bytes, expected):
        x, y, _ = data()
        monkeypatch.setattr(_jax_steps, "_BYTES", most_bytes)
        assert_same_training(make_model, x, y)
        assert loops == expected

    @pytest.mark.parametrize("make", [convolutional, Widening])
    def test_models_that_cannot_loop(self, loops, make):
        model = make()
        model.compile("sgd", LOSS, steps_per_execution=8)
        x, y, _ = data(200)
        seeded_fit(model, x, y, 0, batch_size=10, verbose=0)
        assert loops == [0] * 20


@only_jax
@pytest.mark.parametrize("arguments", [{"steps": 1}, {"run_eagerly": True}, {"jit_compile": False}])
def test_only_several_compiled_steps_are_looped(arguments):
    model = make_model(**arguments)
    _jax_steps.use_looped_steps(model)
    assert model.train_function is None


@only_jax
def test_not_over_several_devices(monkeypatch):
    monkeypatch.setattr(keras.distribution, "distribution", keras.distribution.DataParallel)
    model = make_model()
    _jax_steps.use_looped_steps(model)
    assert model.train_function is None


@pytest.mark.skipif(ON_JAX, reason="other backends")
def test_elsewhere_nothing_changes():
    model = make_model(steps=1 if keras.backend.backend() == "torch" else 32)
    _jax_steps.use_looped_steps(model)
    assert model.train_function is None
