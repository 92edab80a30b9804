"""`Resume` in fits of one's own: nothing is lost, wherever they are interrupted."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import Resume, ShuffledBatches
from tests.support.eager import eager_models
from tests.support.interruptions import TOLERANCE, Epochs, Stop

EPOCHS = 7
#: Of the epochs; with these the third one is the best, and training stops with the sixth.
SCORES = (5.0, 3.0, 2.0, 4.0, 4.0, 3.0, 1.0)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 4)).astype("float32")
Y = (X[:, :1] * X[:, 1:2] > 0).astype("float32")
VALIDATION = (RNG.normal(size=(20, 4)).astype("float32"), RNG.integers(2, size=(20, 1)))

SLOW = pytest.mark.slow


def network():
    """Of everything that has a state: noise, statistics of batches, moments, an average."""
    keras.utils.set_random_seed(1)
    layers = [
        keras.Input((4,)),
        csdl.MaskingNoise(0.2),
        keras.layers.Dense(8, "relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(1, "sigmoid", dtype="float32"),
    ]
    model = keras.Sequential(layers)
    optimizer = keras.optimizers.Adam(0.01, use_ema=True, ema_overwrite_frequency=5)
    model.compile(optimizer, "binary_crossentropy")
    return model


class Scores(keras.callbacks.Callback):
    """What the others monitor."""

    def on_epoch_end(self, epoch, logs=None):
        logs["score"] = SCORES[epoch]


def callbacks():
    """Two that remember."""
    arguments = {"monitor": "score", "mode": "min", "min_delta": 0.5}
    return [
        keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True, **arguments),
        keras.callbacks.ReduceLROnPlateau(patience=1, factor=0.5, **arguments),
    ]


def fit(path, stop=(), epochs=EPOCHS, first=False, **arguments):
    """Fits a new network with what is in the file; what it has come to."""
    with eager_models():
        model, remembering = network(), callbacks()
        batches = ShuffledBatches(X, Y, batch_size=20, seed=3, **arguments)
        resume, begun = Resume(path, batches, remembering), Epochs()
        ordered = [resume, *remembering] if first else [*remembering, resume]
        history = model.fit(
            batches,
            epochs=epochs,
            validation_data=VALIDATION,
            callbacks=[Scores(), *ordered, begun, *stop],
            verbose=0,
        )
    return model, history, begun.begun[0], remembering


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return fit(tmp_path_factory.mktemp("undisturbed") / "fit.npz")


def interrupt(path, epoch, **arguments):
    with pytest.raises(InterruptedError):
        fit(path, stop=[Stop(0, epoch)], **arguments)


class TestInterrupted:
    def check(self, nothing_lost, found, undisturbed, how, times=1):
        model, history, _, remembering = found
        nothing_lost(how, model.get_weights(), undisturbed[0].get_weights(), times)
        assert history.epoch == undisturbed[1].epoch
        for name, values in undisturbed[1].history.items():
            np.testing.assert_allclose(history.history[name], values, atol=TOLERANCE)
        for callback, twin in zip(remembering, undisturbed[3], strict=True):
            assert (callback.wait, callback.min_delta) == (twin.wait, twin.min_delta)

    def test_the_undisturbed_run_stops_early(self, undisturbed):
        """Or the tests would not see whether callbacks remember."""
        history, (stopping, _) = undisturbed[1], undisturbed[3]
        assert (stopping.best_epoch, history.epoch) == (2, [0, 1, 2, 3, 4, 5])
        assert len(set(history.history["learning_rate"])) > 1

    @pytest.mark.parametrize(
        "epoch",
        [epoch if epoch == 4 else pytest.param(epoch, marks=SLOW) for epoch in range(6)],
    )
    @pytest.mark.parametrize("first", [pytest.param(False, marks=SLOW), True])
    def test_in_any_epoch(self, epoch, first, undisturbed, tmp_path, nothing_lost):
        interrupt(tmp_path / "fit.npz", epoch, first=first)
        found = fit(tmp_path / "fit.npz", first=first)
        assert found[2][0] == epoch
        self.check(nothing_lost, found, undisturbed, "fit of one's own, by an exception")

    def test_in_every_epoch(self, undisturbed, tmp_path, nothing_lost):
        for epoch in range(len(undisturbed[1].epoch)):
            interrupt(tmp_path / "fit.npz", epoch)
        found = fit(tmp_path / "fit.npz")
        self.check(nothing_lost, found, undisturbed, "fit of one's own, in every epoch", 6)

    def test_behind_its_end(self, undisturbed, tmp_path, nothing_lost):
        fit(tmp_path / "fit.npz")
        found = fit(tmp_path / "fit.npz")
        assert len(found[2]) == 1
        self.check(nothing_lost, found, undisturbed, "fit of one's own, behind its end")

    def test_epochs_of_so_many_steps(self, tmp_path, nothing_lost):
        expected = fit(tmp_path / "undisturbed.npz", steps_per_epoch=4)
        interrupt(tmp_path / "fit.npz", 2, steps_per_epoch=4)
        found = fit(tmp_path / "fit.npz", steps_per_epoch=4)
        self.check(nothing_lost, found, expected, "fit of one's own, steps_per_epoch")

    def test_less_often(self, undisturbed, tmp_path, monkeypatch):
        make = csdl.Resume.__init__

        def rarely(self, *arguments):
            make(self, *arguments, seconds=1000.0)

        monkeypatch.setattr(csdl.Resume, "__init__", rarely)
        interrupt(tmp_path / "fit.npz", 3)
        assert not list(tmp_path.iterdir())

    def test_keras_alone_would_lose_much(self, tmp_path):
        """So that the tests above can fail: without `Resume` the same comparison does."""

        def run(folder, stop=()):
            model = network()
            backup = keras.callbacks.BackupAndRestore(tmp_path / folder)
            model.fit(X, Y, batch_size=20, epochs=4, callbacks=[backup, *stop], verbose=0)
            return model.get_weights()

        with eager_models():
            expected = run("undisturbed")
            with pytest.raises(InterruptedError):
                run("interrupted", [Stop(0, 2)])
            found = run("interrupted")
        assert max(np.abs(a - b).max() for a, b in zip(found, expected, strict=True)) > 1e-3


def test_loss_scale(tmp_path, nothing_lost):
    """Of 16-bit floats, whose optimizer wraps another one."""

    def train(name, stop=()):
        keras.utils.set_random_seed(1)
        layers = [keras.Input((4,)), keras.layers.Dense(3, dtype="mixed_float16")]
        model = keras.Sequential([*layers, keras.layers.Dense(1, dtype="float32")])
        inner = keras.optimizers.SGD(0.1, momentum=0.9)
        optimizer = keras.optimizers.LossScaleOptimizer(inner, dynamic_growth_steps=4)
        model.compile(optimizer, "mse")
        batches = ShuffledBatches(X, Y, batch_size=20, seed=3)
        resume = Resume(tmp_path / name, batches)
        model.fit(batches, epochs=4, callbacks=[resume, *stop], verbose=0)
        return [np.asarray(keras.ops.convert_to_numpy(it)) for it in resume._variables()]

    with eager_models():
        expected = train("undisturbed")
        with pytest.raises(InterruptedError):
            train("fit", [Stop(0, 2)])
        nothing_lost("fit of one's own, loss scale", train("fit"), expected)


class TestRefuses:
    def run(self, path, model=None, data=None, remembering=(), given=None, **arguments):
        batches = ShuffledBatches(X, Y, batch_size=20, seed=3)
        resume = Resume(path, batches, remembering)
        epochs = Epochs()
        with eager_models():
            if model is None:
                model = network()
                # Without an average, which Keras makes the weights whenever a fit ends on JAX.
                model.compile("adam", "binary_crossentropy")
            before = model.get_weights()
            try:
                model.fit(
                    *([batches] if data is None else data),
                    **{"epochs": 3, "verbose": 0, **arguments},
                    callbacks=[*(remembering if given is None else given), resume, epochs],
                )
            finally:
                self.epochs = sum(epochs.begun, [])
                self.unchanged = all(map(np.array_equal, before, model.get_weights()))

    @pytest.mark.parametrize(
        "arguments,message",
        [
            ({"steps_per_epoch": 2}, "Expected 3 steps an epoch.*received 2"),
            ({"data": (X, Y), "batch_size": 20}, "on the ShuffledBatches.*other data"),
            ({"remembering": callbacks(), "given": ()}, "received EarlyStopping, which it is not"),
        ],
    )
    def test_other_data_and_callbacks(self, arguments, message, tmp_path):
        with pytest.raises(ValueError, match=message):
            self.run(tmp_path / "fit.npz", **arguments)
        assert self.unchanged and not list(tmp_path.iterdir())

    def test_the_file_of_another_fit(self, tmp_path):
        path = tmp_path / "fit.npz"
        self.run(path)
        assert self.epochs == [0, 1, 2]
        content = path.read_bytes()
        other = network()
        other.compile("sgd", "binary_crossentropy")
        stop = keras.callbacks.EarlyStopping("loss")
        wider = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        wider.compile("adam", "mse")
        refused = [
            ({"epochs": 2}, "more than 2 `epochs`.*received 2"),
            ({"model": other}, "other variables"),
            ({"model": wider}, "other variables"),
            ({"remembering": [stop]}, "other callbacks"),
        ]
        for arguments, message in refused:
            with pytest.raises(ValueError, match=message):
                self.run(path, **arguments)
            assert self.unchanged and not self.epochs and path.read_bytes() == content
        with pytest.raises(ValueError, match="other batches"):
            batches = ShuffledBatches(X + 1, Y, batch_size=20, seed=3)
            network().fit(batches, epochs=3, callbacks=[Resume(path, batches)], verbose=0)

    def test_a_damaged_file(self, tmp_path):
        path = tmp_path / "fit.npz"
        self.run(path)
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.raises(ValueError, match=f"Expected {path} to be.*received a damaged one"):
            self.run(path)
        assert self.unchanged and not self.epochs

    def test_a_model_without_weights(self, tmp_path):
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        if keras.backend.backend() == "tensorflow":
            # The other two build models ahead of training.
            with pytest.raises(ValueError, match="a model that is built"):
                self.run(tmp_path / "fit.npz", model)
