"""Networks that a function of the user builds."""

import functools

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.sklearn.fitted import COSTS, LABELS, MATRIX, X, Y, estimator

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

LONGER = csdl.Settings().replace({"auto.batch_size": 20, "auto.learning_rate": 0.05})
probabilities = functools.partial(csdl.models.mlp, hidden_units=(8,))
costs = functools.partial(csdl.models.mlp, output="cost", hidden_units=(8,))


def single(activation, units):
    """Returns a builder of networks of one layer."""
    return lambda shape, classes: keras.Sequential(
        [keras.Input(shape), keras.layers.Dense(units, activation)]
    )


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
            self.targets = [np.asarray(batch[1]) for batch in batches]
            self.loss, self.arguments = model.loss, kwargs
            return fit(batches, **kwargs)

        model.fit = noting
        self.models.append(model)
        return model

    def __deepcopy__(self, memo):
        return self


def test_probabilities_are_calibrated_and_weighed():
    build = Fits(probabilities)
    model = estimator(build, settings=LONGER.limit_epochs(6)).fit(X, Y)
    assert isinstance(build.loss, keras.losses.SparseCategoricalCrossentropy)
    targets = np.concatenate(build.targets)
    assert targets.dtype.kind == "i" and len(targets) < 90
    assert "temperature" in str([type(layer) for layer in model.model_.layers]).lower()
    found = model.predict_proba(X) @ MATRIX
    np.testing.assert_allclose(model.predict_cost(X), found, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(X), LABELS[found.argmin(axis=1)])
    blind = csdl.costs.cost_vectors(MATRIX, np.arange(90) % 3).mean(axis=0).min()
    assert -model.score(X, Y) < blind


@pytest.mark.parametrize("own_costs", [False, True])
def test_costs_are_fitted_in_units_of_the_largest(own_costs):
    build = Fits(costs)
    matrix, given = (None, COSTS) if own_costs else (MATRIX, None)
    model = estimator(build, cost_matrix=matrix, validation_fraction=0)
    model.fit(X, Y, costs=given)
    assert isinstance(build.loss, csdl.SOSRLoss)
    largest = (COSTS if own_costs else MATRIX).max()
    if own_costs:
        assert build.loss.cost_scale == pytest.approx(1 / largest)
    else:
        np.testing.assert_allclose(build.loss.cost_matrix, MATRIX / largest)
    outputs = model.model_.predict(X.astype("float32"), verbose=0)
    np.testing.assert_allclose(model.predict_cost(X), outputs * largest, rtol=1e-5)
    assert not hasattr(model, "predict_proba") and hasattr(estimator(build), "predict_proba")


def test_what_is_compiled_stays_so():
    optimizer, loss = keras.optimizers.SGD(0.125), keras.losses.SparseCategoricalCrossentropy()
    build = Fits(probabilities, optimizer=optimizer, loss=loss)
    estimator(build).fit(X, Y)
    assert build.loss is loss and any(it.optimizer is optimizer for it in build.models)
    assert build.arguments["epochs"] == 2 and len(build.targets[0]) == 50


def test_a_network_of_costs_that_is_compiled_is_refused():
    with pytest.raises(ValueError, match="Expected an uncompiled network of costs"):
        estimator(Fits(costs, loss=csdl.SOSRLoss())).fit(X, Y)


def test_mean_costs_decide_where_examples_have_their_own():
    """The cheapest decision in a class is another class here."""
    model = estimator(probabilities, cost_matrix=None).fit(X, Y, costs=COSTS[:, [1, 2, 0]] + 1)
    # The means of the examples that are not held out.
    means = model.model_.get_layer("bayes_decision").get_weights()[0]
    found = model.predict_proba(X) @ means
    assert model.cost_matrix_.min() >= 1 and means.min() == 0
    np.testing.assert_allclose(means, csdl.costs.regret(model.cost_matrix_), atol=0.5)
    decided = [LABELS.tolist().index(label) for label in model.predict(X)]
    np.testing.assert_allclose(found[np.arange(90), decided], found.min(axis=1), rtol=1e-5)


@pytest.mark.parametrize(
    ("build", "arguments", "match"),
    [
        (lambda shape, classes: "model", {}, "to return a keras.Model; received 'model'"),
        (single("sigmoid", 3), {}, "Expected a network that ends in a softmax, in logits"),
        (
            costs,
            {"cost_matrix": csdl.costs.with_abstain(MATRIX, 0.5)},
            "Expected an algorithm that can price decisions that are no class",
        ),
    ],
    ids=["no model", "neither", "costs of other decisions"],
)
def test_networks_that_are_refused(build, arguments, match):
    with pytest.raises(ValueError, match=match):
        estimator(build, **arguments).fit(X, Y)
