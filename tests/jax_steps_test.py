"""Steps of JAX in one loop of the compiler."""

import itertools

import keras
import numpy as np
import pytest

from csdl_keras import ShuffledBatches
from csdl_keras.fitting import _jax_steps
from csdl_keras.fitting.seeded_fit import seeded_fit
from csdl_keras.fitting.shuffled_batches import SeededEpochs

ON_JAX = keras.backend.backend() == "jax"
only_jax = pytest.mark.skipif(not ON_JAX, reason="steps of JAX")
N, INPUTS, CLASSES = 203, 6, 4


def make_model(policy="float32", steps=32, optimizer="adam", **compile_arguments):
    """A network with all that a state may hold: masks, moving means, metrics, frozen weights."""
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((INPUTS,)),
            layers.Dense(8, activation="relu", dtype=policy, trainable=False),
            layers.Dropout(0.3, seed=1, dtype=policy),
            layers.BatchNormalization(dtype=policy),
            layers.Dense(CLASSES, activation="softmax", dtype=policy),
        ]
    )
    model.compile(
        optimizer,
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
        weighted_metrics=["accuracy"],
        steps_per_execution=steps,
        **compile_arguments,
    )
    return model


def data(number=N):
    """Inputs, labels and weights."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(number, INPUTS)).astype("float32")
    return x, rng.integers(CLASSES, size=number), rng.uniform(size=number).astype("float32")


@pytest.fixture
def loops(monkeypatch):
    """How many batches each loop took, 0 for a step by itself."""
    taken = []
    blocks = _jax_steps._blocks

    def noted(*arguments):
        for block, count in blocks(*arguments):
            taken.append(count)
            yield block, count

    monkeypatch.setattr(_jax_steps, "_blocks", noted)
    return taken


class Steps(keras.callbacks.Callback):
    """What callbacks are told of steps."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def on_train_batch_begin(self, batch, logs=None):
        self.seen.append(("begin", batch))

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append(("end", batch, round(float(logs["loss"]), 4)))


def fitted(model, x, y, weights=None, looped=True, steps=None, batch_size=10, epochs=3):
    """Weights, history and what callbacks saw, with the loop or with `fit` as it is."""
    seen = Steps()
    if looped:
        history = seeded_fit(
            model,
            x,
            y,
            0,
            callbacks=[seen],
            sample_weight=weights,
            batch_size=batch_size,
            steps_per_epoch=steps,
            epochs=epochs,
            verbose=0,
        )
    else:
        batches = ShuffledBatches(x, y, weights, batch_size, 0, steps)
        callbacks = [seen, SeededEpochs(batches)]
        history = model.fit(batches, epochs=epochs, callbacks=callbacks, shuffle=False, verbose=0)
    variables = [*model.weights, *model.optimizer.variables]
    return [keras.ops.convert_to_numpy(it) for it in variables], history.history, seen.seen


def assert_same(one, other, tolerance=1e-5):
    """Asserts the same weights, histories and calls of callbacks."""
    for left, right in zip(one[0], other[0], strict=True):
        np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance)
    assert one[1].keys() == other[1].keys()
    for name in one[1]:
        np.testing.assert_allclose(one[1][name], other[1][name], rtol=tolerance, atol=tolerance)
    for left, right in zip(one[2], other[2], strict=True):
        assert left[:2] == right[:2]
        np.testing.assert_allclose(left[2:], right[2:], atol=max(1e-3, tolerance))


@only_jax
class TestLooped:
    @pytest.mark.parametrize(
        ("number", "batch_size", "most", "steps", "expected"),
        [
            (200, 10, 32, None, [20]),
            (203, 10, 32, None, [20, 1]),
            (203, 10, 8, None, [8, 8, 4, 1]),
            (90, 10, 8, None, [8, 1]),
            (200, 10, 8, 11, [8, 3]),
            (203, 10, 32, 30, [20, 1, 9]),
            (7, 10, 2, None, [1]),
        ],
    )
    def test_same_training_as_step_by_step(self, loops, number, batch_size, most, steps, expected):
        x, y, _ = data(number)
        one = fitted(make_model(steps=most), x, y, None, True, steps, batch_size, epochs=1)
        assert loops == expected
        other = fitted(make_model(steps=most), x, y, None, False, steps, batch_size, epochs=1)
        assert loops == expected
        assert_same(one, other)

    @pytest.mark.parametrize("policy", ["float32", "mixed_float16", "mixed_bfloat16"])
    def test_masks_weights_of_examples_and_precision(self, loops, policy):
        tolerance = 1e-5 if policy == "float32" else 2e-2
        one = fitted(make_model(policy), *data())
        assert loops == [20, 1] * 3
        assert_same(one, fitted(make_model(policy), *data(), looped=False), tolerance)

    def test_several_inputs(self, loops):
        x, y, _ = data()

        def make():
            keras.utils.set_random_seed(0)
            left, right = keras.Input((INPUTS,), name="left"), keras.Input((2,), name="right")
            joined = keras.layers.Concatenate()([left, right])
            model = keras.Model([left, right], keras.layers.Dense(CLASSES)(joined))
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile("sgd", loss, steps_per_execution=16)
            return model

        inputs = {"left": x, "right": x[:, :2].astype("float64")}
        batches = ShuffledBatches(inputs, y, batch_size=10)
        plain, looped = make(), make()
        _jax_steps.use_looped_steps(looped)
        for model in (plain, looped):
            model.fit(batches, epochs=2, shuffle=False, verbose=0)
        assert loops == [16, 4, 1] * 2
        for left, right in zip(plain.get_weights(), looped.get_weights(), strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)

    def test_blocks_are_bounded(self, loops, monkeypatch):
        x, y, _ = data()
        # Two batches and a half: 10 inputs of 6 numbers of 4 bytes, labels of 8 bytes.
        monkeypatch.setattr(_jax_steps, "_BYTES", 800)
        one = fitted(make_model(), x, y, epochs=1)
        # The last batch is smaller, and has room for others of its kind.
        assert loops == [2] * 10 + [1]
        monkeypatch.setattr(_jax_steps, "_BYTES", 300)
        other = fitted(make_model(), x, y, epochs=1)
        assert loops[11:] == [0] * 20 + [1]
        assert_same(one, other)

    def test_what_convolves_goes_step_by_step(self, loops):
        model = keras.Sequential(
            [
                keras.Input((INPUTS,)),
                keras.layers.Reshape((INPUTS, 1)),
                keras.Sequential([keras.layers.Conv1D(2, 3)]),
                keras.layers.Flatten(),
                keras.layers.Dense(CLASSES, activation="softmax"),
            ]
        )
        model.compile("sgd", "sparse_categorical_crossentropy", steps_per_execution=8)
        x, y, _ = data(200)
        seeded_fit(model, x, y, 0, batch_size=10, verbose=0)
        assert loops == [0] * 20

    def test_a_state_that_changes_its_type_goes_step_by_step(self, loops):
        class Widening(keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = keras.layers.Dense(CLASSES, activation="softmax")

            def call(self, inputs):
                return self.dense(inputs)

            def train_step(self, state, batch):
                logs, (trainable, *rest) = super().train_step(state, batch)
                return logs, ([it.astype("bfloat16") for it in trainable], *rest)

        model = Widening()
        model.compile("sgd", "sparse_categorical_crossentropy", steps_per_execution=8)
        x, y, _ = data(200)
        seeded_fit(model, x, y, 0, batch_size=10, verbose=0)
        assert loops == [0] * 20

    def test_a_training_that_stops_early(self):
        x, y, _ = data()
        stop = keras.callbacks.EarlyStopping("loss", patience=0, mode="max")
        history = seeded_fit(
            make_model(steps=4), x, y, 0, callbacks=[stop], batch_size=10, epochs=9, verbose=0
        )
        assert len(history.epoch) < 9

    def test_other_data_afterwards(self, loops):
        x, y, weights = data()
        model = make_model(steps=4)
        seeded_fit(model, x, y, 0, batch_size=10, verbose=0)
        before = len(loops)

        def batches():
            for start in itertools.cycle(range(0, 200, 10)):
                yield x[start : start + 10], y[start : start + 10]

        model.fit(batches(), steps_per_epoch=8, epochs=2, verbose=0)
        model.fit(x, y, sample_weight=weights, batch_size=10, verbose=0)
        assert len(loops) > before
        assert int(model.optimizer.iterations) == 21 + 16 + 21


@only_jax
@pytest.mark.parametrize("arguments", [{"steps": 1}, {"run_eagerly": True}, {"jit_compile": False}])
def test_only_several_compiled_steps_are_looped(arguments):
    model = make_model(**arguments)
    _jax_steps.use_looped_steps(model)
    assert model.train_function is None


@only_jax
def test_not_over_several_devices():
    previous = keras.distribution.distribution()
    keras.distribution.set_distribution(keras.distribution.DataParallel())
    try:
        model = make_model()
        _jax_steps.use_looped_steps(model)
        assert model.train_function is None
    finally:
        keras.distribution.set_distribution(previous)


@pytest.mark.skipif(ON_JAX, reason="other backends")
def test_elsewhere_nothing_changes():
    model = make_model(steps=1 if keras.backend.backend() == "torch" else 32)
    _jax_steps.use_looped_steps(model)
    assert model.train_function is None
