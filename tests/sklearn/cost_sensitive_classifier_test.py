"""What the estimator trains and predicts, against loops and against `csdl_keras.train`."""

import functools
import pickle

import keras
import numpy as np
import pandas
import polars
import pytest
from sklearn.naive_bayes import GaussianNB

import csdl_keras as csdl
from csdl_keras.sklearn import BayesClassifier, average_cost_scorer
from csdl_keras.training.algorithms import Algorithm
from csdl_keras.training.data import validation_split
from tests.sklearn.fitted import COSTS, INDICES, LABELS, MATRIX, SETTINGS, X, Y, estimator, fitted
from tests.support.trainers import DATA

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

X32 = X.astype("float32")
#: Networks of the user's own.
NETWORK = functools.partial(csdl.models.mlp, hidden_units=(8,))
COST_NETWORK = functools.partial(NETWORK, output="cost")
POISSON = Algorithm("poisson", "Poisson", "mlp", "none", "poisson", "argmin")


def outputs(model):
    """What a model says of all examples."""
    if isinstance(model, keras.Model):
        return model.predict(X32, verbose=0)
    return model.predict_costs(X32)


@pytest.mark.parametrize(
    "name,own_costs", [("dnn_bayes", True), ("dnn_sosr", False), ("csosr", True)]
)
def test_decisions_of_train_on_the_same_split(name, own_costs):
    kept, held_out = validation_split(INDICES, 0.15, np.random.RandomState(0))
    validation = (X32[held_out], INDICES[held_out])
    prices = {"cost_matrix": MATRIX}
    if own_costs:
        prices, validation = {"costs": COSTS[kept]}, (*validation, COSTS[held_out])
    arguments = {**prices, "validation_data": validation, "settings": SETTINGS, "seed": 0}
    model = csdl.train(X32[kept], INDICES[kept], algorithm=name, **arguments)
    found = fitted(name, own_costs)
    np.testing.assert_array_equal(found.predict(X), LABELS[csdl.decide(model, X32)])
    np.testing.assert_allclose(outputs(found.model_), outputs(model), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "name,network", [("dnn_bayes", None), ("dnn_blind", None), ("calibrated_bayes", NETWORK)]
)
def test_costs_are_expected_under_the_probabilities(name, network):
    found = estimator(name, network=network).fit(X, Y) if network else fitted(name)
    probabilities, costs = found.predict_proba(X), found.predict_cost(X)
    np.testing.assert_allclose(costs, probabilities @ MATRIX, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-5)
    by = probabilities.argmax(axis=1) if name == "dnn_blind" else costs.argmin(axis=1)
    np.testing.assert_array_equal(found.predict(X), LABELS[by])


@pytest.mark.parametrize("algorithm", ["csosr", POISSON])
def test_estimates_are_in_the_unit_of_the_costs(algorithm):
    small = fitted(algorithm)
    costs = small.predict_cost(X)
    large = estimator(algorithm, cost_matrix=100 * MATRIX).fit(X, Y).predict_cost(X)
    np.testing.assert_allclose(100 * costs, large, rtol=1e-3, atol=0.05)
    np.testing.assert_array_equal(small.predict(X), LABELS[costs.argmin(axis=1)])
    assert not hasattr(small, "predict_proba")


def test_images_and_the_default_row():
    settings = SETTINGS.replace({"auto.batch_size": 100}).limit_epochs(1)
    model = estimator("calibrated_bayes", cost_matrix=None, settings=settings)
    model.fit(DATA.x_train, DATA.y_train)
    assert model.predict(DATA.x_test[:5]).shape == (5,)
    np.testing.assert_array_equal(model.cost_matrix_, 1 - np.eye(10))
    with pytest.raises(ValueError, match=r"shape \(N, 8, 8, 1\), as in `fit`; received"):
        model.predict(DATA.x_test[:5, :, :7])


@pytest.mark.parametrize(
    "start",
    [lambda: np.random.RandomState(5), lambda: keras.utils.set_random_seed(5)],
    ids=["a generator", "the global seed"],
)
def test_random_state(start):
    def fit(state):
        return estimator(random_state=state).fit(X[:30], Y[:30]).predict_cost(X)

    state = start()
    first, second = fit(state), fit(state)
    np.testing.assert_array_equal(first, fit(start()))
    assert np.abs(first - second).max() > 1e-4


def test_score_is_minus_the_average_cost():
    model, weights = fitted(), np.arange(90.0)
    columns = np.searchsorted(LABELS, model.predict(X))
    paid = MATRIX[INDICES, columns]
    assert model.score(X, Y) == pytest.approx(-paid.mean())
    assert model.score(X, Y, costs=COSTS) == pytest.approx(-COSTS[range(90), columns].mean())
    weighted = -np.sum(weights * paid) / np.sum(weights)
    assert model.score(X, Y, sample_weight=weights) == pytest.approx(weighted)


@pytest.mark.parametrize("name", ["dnn_bayes", "csosr"])
def test_pickle(name):
    model = fitted(name)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(loaded.predict_cost(X), model.predict_cost(X), rtol=1e-6)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert hasattr(loaded, "predict_proba") == hasattr(model, "predict_proba")


def test_its_model_keeps_labels_that_are_names():
    np.testing.assert_array_equal(fitted().model_.classes, LABELS)
    numbers = estimator().fit(X, np.arange(90) % 3)
    assert getattr(numbers.model_, "classes", None) is None


def test_frames_with_categories_dates_and_missing_values():
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(kind=np.where(Y == "cat", "p", "q"))
    frame["when"] = pandas.date_range("2026-01-01", periods=90)
    frame.loc[::7, "a"] = np.nan
    model = estimator("calibrated_bayes").fit(frame, pandas.Series(Y))
    assert model.feature_names_in_.tolist() == list(frame) and model.n_features_in_ == 6
    expected = model.predict_proba(frame)
    for rows in (frame[[*frame][::-1]], polars.from_pandas(frame)):
        np.testing.assert_allclose(model.predict_proba(rows), expected, rtol=1e-5)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


DAYS = np.array(["2020-01-01", "2021-06-30"], "datetime64[D]")


@pytest.mark.parametrize(
    "values,label,other", [([False, True], 2, None), (DAYS, "abstain", ["abstain"])]
)
def test_an_estimator_that_abstains(values, label, other):
    # To abstain is the cheapest decision unless it is certain.
    matrix = csdl.costs.with_abstain(1 - np.eye(2), 0.2)
    y = pandas.Series(values)[np.arange(90) % 2]
    model = estimator(cost_matrix=matrix, other_decisions=other).fit(X, y)
    chosen = model.predict_cost(X).argmin(axis=1)
    known = [*values, label]
    assert model.predict(X).tolist() == [known[place] for place in chosen]
    assert 2 in chosen and model.predict_proba(X).shape == (90, 2)
    assert model.score(X, y) == average_cost_scorer(matrix, False, other)(model, X, y)


@pytest.mark.parametrize("make", [estimator, functools.partial(BayesClassifier, GaussianNB())])
def test_costs_are_found_by_the_names_of_classes(make):
    names = LABELS[::-1]
    model = make(cost_matrix=pandas.DataFrame(MATRIX[::-1, ::-1], names, names)).fit(X, Y)
    np.testing.assert_array_equal(model.cost_matrix_, MATRIX)
    with pytest.raises(ValueError, match="the classes are .'cat', 'dog', 'eel'"):
        make(cost_matrix=pandas.DataFrame(MATRIX, names, list("abc"))).fit(X, Y)


@pytest.mark.parametrize("own_costs", [False, True])
def test_costs_are_in_units_of_the_largest(own_costs):
    matrix, given = (None, COSTS) if own_costs else (MATRIX, None)
    model = estimator("dnn_sosr", network=COST_NETWORK, cost_matrix=matrix, validation_fraction=0)
    model.fit(X, Y, costs=given)
    outputs = model.model_.predict(X.astype("float32"), verbose=0)
    largest = (COSTS if own_costs else MATRIX).max()
    np.testing.assert_allclose(model.predict_cost(X), outputs * largest, rtol=1e-5)
    assert not hasattr(model, "predict_proba")


def test_mean_costs_decide_where_examples_have_their_own():
    """The cheapest decision in a class is another class here."""
    model = estimator("calibrated_bayes", network=NETWORK, cost_matrix=None)
    model.fit(X, Y, costs=COSTS[:, [1, 2, 0]] + 1)
    # The means of the examples that are not held out.
    means = model.model_.get_layer("bayes_decision").get_weights()[0]
    found = model.predict_proba(X) @ means
    assert model.cost_matrix_.min() >= 1 and means.min() == 0
    np.testing.assert_allclose(means, csdl.costs.regret(model.cost_matrix_), atol=0.5)
    decided = [LABELS.tolist().index(label) for label in model.predict(X)]
    np.testing.assert_allclose(found[np.arange(90), decided], found.min(axis=1), rtol=1e-5)
