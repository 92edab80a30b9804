"""Tests that a model goes on after an error within `fit`, `evaluate` and `predict`."""

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from csdl_keras._utils.kept_values import kept_values
from tests.support.small_models import functional, inputs

X, LABELS = inputs(12), np.arange(12) % 3
C = np.array([[0.0, 1.0, 0.5], [0.9, 0.0, 0.1], [0.3, 0.7, 0.0]])
COSTS = np.broadcast_to(C, (12, 3, 3))


def trained(metrics=()):
    model = functional([layers.Dropout(0.5, seed=1), csdl.CostOutput(3)])
    model.compile("adam", csdl.SOSRLoss(), metrics=list(metrics))
    model.fit(X, C[LABELS], verbose=0)
    return model


class Interrupt(keras.callbacks.Callback):
    def on_predict_batch_end(self, batch, logs=None):
        raise KeyboardInterrupt


class TestPredict:
    def call(self, wrong):
        classifier = functional([layers.Dense(3, "softmax")])
        model = csdl.bayes_classifier(classifier, cost_input=True)
        before = classifier.predict(X, verbose=0)
        with pytest.raises(Exception):  # noqa: B017, PT011 - each backend raises its own
            wrong(model)
        np.testing.assert_array_equal(classifier.predict(X, verbose=0), before)
        expected = before @ C
        np.testing.assert_allclose(model.predict([X, COSTS], verbose=0), expected, rtol=1e-5)

    def test_without_costs(self):
        self.call(lambda model: model.predict(X, verbose=0))

    def test_costs_of_a_wrong_shape(self):
        self.call(lambda model: model.predict([X, COSTS[:, :2]], verbose=0))
        self.call(lambda model: csdl.decide(model, [X, COSTS[:, :2]]))

    def test_a_second_batch_of_a_wrong_shape(self):
        def wrong(model):
            batches = [((X, COSTS),), ((X[:, :2], COSTS),)]
            model.predict((batch for batch in batches), steps=2, verbose=0)

        self.call(wrong)

    @pytest.mark.parametrize("costs", [None, C])
    def test_data_of_a_wrong_width(self, costs):
        model = functional([layers.Dense(3, "softmax")])
        before = model.predict(X, verbose=0)
        with pytest.raises(Exception):  # noqa: B017, PT011
            csdl.decide(model, ((batch,) for batch in [X[:, :2]]), costs=costs)
        np.testing.assert_array_equal(model.predict(X, verbose=0), before)

    def test_interrupted(self):
        model = functional([layers.Dense(3)])
        before = model.predict(X, verbose=0)
        with pytest.raises(KeyboardInterrupt), kept_values(model):
            model.predict(X, batch_size=4, callbacks=[Interrupt()], verbose=0)
        np.testing.assert_array_equal(model.predict(X, verbose=0), before)


class TestFit:
    @pytest.mark.parametrize("name", ["fit", "evaluate"])
    def test_wrong_targets(self, name):
        model = trained([csdl.AverageCost(), csdl.NormalizedCost(num_decisions=3)])
        before, steps = model.predict(X, verbose=0), int(model.optimizer.iterations)
        with pytest.raises(ValueError, match="Expected"):
            getattr(model, name)(X, LABELS, verbose=0)
        np.testing.assert_array_equal(model.predict(X, verbose=0), before)
        assert int(model.optimizer.iterations) == steps
        model.fit(X, C[LABELS], verbose=0)
        assert int(model.optimizer.iterations) == steps + 1

    @pytest.mark.skipif(
        keras.backend.backend() == "tensorflow", reason="Keras must compile again there"
    )
    def test_a_first_fit(self):
        model = functional([csdl.CostOutput(3)])
        model.compile("adam", csdl.SOSRLoss())
        for _ in range(2):
            with pytest.raises(ValueError, match="give the loss a `cost_matrix`"):
                model.fit(X, LABELS, verbose=0)
        model.fit(X, C[LABELS], verbose=0)

    def test_validation_and_metrics_alone(self):
        model = trained()
        model.compile("adam", "mse", metrics=[csdl.AverageCost()])
        with pytest.raises(ValueError, match="Expected"):
            model.fit(X, C[LABELS], validation_data=(X, C[LABELS][:, :1]), verbose=0)
        assert np.isfinite(model.predict(X, verbose=0)).all()
        model.fit(X, C[LABELS], verbose=0)

    def test_an_output_of_another_kind(self):
        model = trained()
        model.compile("adam", "mse")
        model.fit(X, C[LABELS], verbose=0)
        before = model.predict(X, verbose=0)
        model.compile("adam", "sparse_categorical_crossentropy")
        with pytest.raises(ValueError, match="Expected a loss of costs"):
            model.fit(X, LABELS, verbose=0)
        np.testing.assert_array_equal(model.predict(X, verbose=0), before)
