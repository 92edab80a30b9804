"""The callback that prices decisions with known costs on validation examples."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.costs import AffineCosts
from csdl_keras.layers import BayesDecision
from csdl_keras.training import ValidationCost

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

RNG = np.random.default_rng(0)
NUM, K, D = 24, 3, 4
X, Y = RNG.normal(size=(NUM, 5)), RNG.integers(K, size=NUM)
COSTS = RNG.uniform(0, 9, size=(NUM, K, D))
AMOUNT, PER_UNIT, FIXED = RNG.uniform(1, 9, NUM), COSTS[0], COSTS[1]


def classifier(units=K, activation="softmax"):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(units, activation)])
    kind = "sparse_categorical" if units > 1 else "binary"
    model.compile(keras.optimizers.Adam(0.1), f"{kind}_crossentropy")
    return model


def fitted(model, callback, x=X, y=Y, epochs=2):
    """The costs in the history, and those that callbacks behind it see."""
    seen = []
    noting = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append(logs["val_average_cost"])
    )
    callbacks = [callback, noting]
    history = model.fit(x, y, epochs=epochs, verbose=0, callbacks=callbacks).history
    assert history["val_average_cost"] == seen
    return seen


def literal_cost(probabilities, labels, costs):
    """The average cost of Bayes decisions, example by example."""
    total = 0.0
    for row, label, matrix in zip(probabilities, labels, costs, strict=True):
        expected = [
            sum(row[true] * matrix[true][decision] for true in range(len(matrix)))
            for decision in range(len(matrix[0]))
        ]
        total += matrix[label][expected.index(min(expected))]
    return total / len(labels)


@pytest.mark.parametrize(
    ("given", "matrices"),
    [
        (COSTS, COSTS),
        (AffineCosts(AMOUNT, PER_UNIT, FIXED), FIXED + AMOUNT[:, None, None] * PER_UNIT),
        (1 - np.eye(K), np.tile(1 - np.eye(K), (NUM, 1, 1))),
    ],
    ids=["array", "affine", "matrix"],
)
def test_probabilities_decide_by_the_lowest_expected_cost(given, matrices):
    model = classifier()
    costs = fitted(model, ValidationCost(X, Y, given), epochs=3)
    assert len(set(costs)) > 1
    expected = literal_cost(model.predict(X, verbose=0), Y, matrices)
    assert costs[-1] == pytest.approx(expected, rel=1e-5)


def test_one_logistic_unit():
    model, labels, costs = classifier(1, "sigmoid"), Y % 2, COSTS[:, :2]
    found = fitted(model, ValidationCost(X, labels, costs), y=labels)
    positive = model.predict(X, verbose=0)
    rows = np.hstack([1 - positive, positive])
    assert found[-1] == pytest.approx(literal_cost(rows, labels, costs), rel=1e-5)


def test_costs_decide_by_their_argmin():
    """Also those of a model with an input of costs, and of one with a matrix of its own."""
    x, costs = keras.Input((5,)), keras.Input((K, D))
    probabilities = keras.layers.Dense(K, "softmax")(x)
    expected = keras.layers.Dot((1, 1), name="expected")([probabilities, costs])
    taking = keras.Model([x, costs], expected)
    taking.compile("adam", "mean_squared_error")
    rows = keras.Model(x, probabilities)
    vectors = csdl.costs.cost_vectors(COSTS, Y)
    callback = ValidationCost([X, COSTS], Y, COSTS, output="cost")
    found = fitted(taking, callback, [X, COSTS], vectors)
    literal = literal_cost(rows.predict(X, verbose=0), Y, COSTS)
    assert found[-1] == pytest.approx(literal, rel=1e-5)

    owning = keras.Model(x, BayesDecision([[0, 1, 9], [8, 0, 1], [7, 2, 0]])(probabilities))
    owning.compile("adam", "mean_squared_error")
    found = fitted(owning, ValidationCost(X, Y, COSTS[:, :, :K]), X, vectors[:, :K])
    decided = csdl.decide(owning, X)
    paid = np.mean([COSTS[n, Y[n], decided[n]] for n in range(NUM)])
    assert found[-1] == pytest.approx(paid, rel=1e-5)


def test_outputs_that_are_not_finite_cost_nan():
    model = classifier()
    model.set_weights([np.full_like(array, np.nan) for array in model.get_weights()])
    assert np.isnan(fitted(model, ValidationCost(X, Y, COSTS), epochs=1)).all()


@pytest.mark.parametrize(
    ("model", "costs", "output", "match"),
    [
        (classifier(K, None), COSTS, None, "ends in BayesDecision, CostOutput, a softmax"),
        (classifier(), COSTS[:, :2], None, "`costs` of 3 classes, as the model outputs"),
        (classifier(4, None), COSTS[:, :, :3], "cost", "`costs` of 4 decisions"),
    ],
    ids=["logits", "classes", "decisions"],
)
def test_models_that_it_refuses_before_they_train(model, costs, output, match):
    model.optimizer.build(model.trainable_variables)
    labels = targets = np.minimum(Y, costs.shape[1] - 1)
    if "decisions" in match:
        model.compile("adam", "mean_squared_error")
        targets = np.zeros((NUM, 4))
    before = model.get_weights()[0]
    with pytest.raises(ValueError, match=match):
        fitted(model, ValidationCost(X, labels, costs, output), y=targets)
    np.testing.assert_array_equal(model.get_weights()[0], before)
    with pytest.raises(ValueError, match="`x` of shape"):
        fitted(classifier(), ValidationCost(X[:, :4], Y, COSTS))
