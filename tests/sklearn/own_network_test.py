"""Networks that a function of the user builds."""

import functools

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.sklearn.fitted import COSTS, LABELS, MATRIX, SETTINGS, X, Y, estimator

UNITS = {"hidden_units": (8,)}
LONGER = (
    csdl.Settings().replace({"auto.batch_size": 10, "auto.learning_rate": 0.05}).limit_epochs(15)
)
probabilities = functools.partial(csdl.models.mlp, **UNITS)
costs = functools.partial(csdl.models.mlp, output="cost", **UNITS)


class Fits:
    """A builder that notes what its networks are fitted on."""

    def __init__(self, build, **compiled):
        self.build, self.compiled, self.models = build, compiled, []

    def __call__(self, input_shape, num_classes):
        model = self.build(input_shape, num_classes)
        if self.compiled:
            model.compile(**self.compiled)
        fit = model.fit

        def noting(batches, **kwargs):
            targets = [np.asarray(batch[1]) for batch in batches]
            self.targets, self.batch_size = np.concatenate(targets), len(targets[0])
            self.loss, self.arguments = model.loss, kwargs
            return fit(batches, **kwargs)

        model.fit = noting
        self.models.append(model)
        return model

    def __deepcopy__(self, memo):
        return self


class TestContract:
    def test_probabilities_are_calibrated_and_weighed(self, run_eagerly):
        build = Fits(probabilities)
        model = estimator(build, settings=LONGER).fit(X, Y)
        assert isinstance(build.loss, keras.losses.SparseCategoricalCrossentropy)
        assert build.targets.dtype.kind == "i" and len(build.targets) < 90
        assert "temperature" in str([type(layer) for layer in model.model_.layers]).lower()
        found = model.predict_proba(X) @ MATRIX
        np.testing.assert_allclose(model.predict_cost(X), found, rtol=1e-5)
        np.testing.assert_array_equal(model.predict(X), LABELS[found.argmin(axis=1)])
        blind = csdl.costs.cost_vectors(MATRIX, np.arange(90) % 3).mean(axis=0).min()
        assert -model.score(X, Y) < blind

    @pytest.mark.parametrize("own_costs", [False, True])
    def test_costs_are_fitted_in_units_of_the_largest(self, own_costs, run_eagerly):
        build = Fits(costs)
        matrix, given = (None, COSTS) if own_costs else (MATRIX, None)
        model = estimator(build, cost_matrix=matrix, validation_fraction=0)
        model.fit(X, Y, costs=given)
        assert isinstance(build.loss, csdl.SOSRLoss)
        vectors = COSTS if own_costs else MATRIX[np.arange(90) % 3]
        expected = np.sort(vectors / vectors.max(), axis=0)
        np.testing.assert_allclose(np.sort(build.targets, axis=0), expected, rtol=1e-6)
        outputs = build.models[0].predict(X.astype("float32"), verbose=0)
        np.testing.assert_allclose(model.predict_cost(X), outputs * vectors.max(), rtol=1e-5)
        assert not hasattr(model, "predict_proba") and hasattr(estimator(build), "predict_proba")

    def test_what_is_compiled_stays_so(self, run_eagerly):
        optimizer, loss = keras.optimizers.SGD(0.125), keras.losses.SparseCategoricalCrossentropy()
        build = Fits(probabilities, optimizer=optimizer, loss=loss)
        estimator(build).fit(X, Y)
        assert build.loss is loss and build.models[0].optimizer is optimizer
        assert build.arguments["epochs"] == 2 and build.batch_size == 50

    def test_one_logistic_unit(self, run_eagerly):
        def build(input_shape, num_classes):
            return keras.Sequential([keras.Input(input_shape), keras.layers.Dense(1, "sigmoid")])

        model = estimator(build, cost_matrix=[[0, 1], [7, 0]]).fit(X, Y == "eel")
        assert model.predict_proba(X).shape == model.predict_cost(X).shape == (90, 2)
        np.testing.assert_allclose(
            model.predict_cost(X), model.predict_proba(X) @ [[0, 1], [7, 0]], rtol=1e-5
        )
        assert set(model.predict(X)) <= {False, True}

    def test_members_begin_apart(self, run_eagerly):
        build = Fits(probabilities)
        model = estimator(build, ensemble=2).fit(X, Y)
        one, other = (network.get_weights()[0] for network in build.models)
        assert np.abs(one - other).max() > 1e-3
        twin = estimator(Fits(probabilities), ensemble=2).fit(X, Y)
        np.testing.assert_array_equal(model.predict_cost(X), twin.predict_cost(X))

    def test_mean_costs_decide_where_examples_have_their_own(self, run_eagerly):
        model = estimator(probabilities, cost_matrix=None).fit(X, Y, costs=COSTS + 1)
        regrets = csdl.costs.regret(model.cost_matrix_)
        found = model.predict_proba(X) @ regrets
        assert model.cost_matrix_.min() >= 1
        np.testing.assert_array_equal(model.predict(X), LABELS[found.argmin(axis=1)])

    def test_to_abstain(self, run_eagerly):
        priced = csdl.costs.with_abstain(MATRIX, 0.5)
        assert estimator(probabilities, cost_matrix=priced).fit(X, Y).predict_cost(X).shape[1] == 4
        with pytest.raises(ValueError, match="Expected a network of class probabilities"):
            estimator(costs, cost_matrix=priced).fit(X, Y)


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda shape, classes: "model", "to return a keras.Model; received 'model'"),
        (lambda shape, classes: csdl.models.mlp(shape, 4, (5,)), "for each of 3 classes"),
        (
            lambda shape, classes: keras.Sequential([keras.Input(shape), keras.layers.Dense(3)]),
            "Expected a model that ends in",
        ),
    ],
    ids=["no model", "width", "neither"],
)
def test_networks_that_are_refused(build, match):
    with pytest.raises(ValueError, match=match):
        estimator(build, settings=SETTINGS).fit(X, Y)
