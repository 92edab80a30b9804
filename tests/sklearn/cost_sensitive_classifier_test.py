"""What the estimator trains and predicts, against loops and against `csdl_keras.train`."""

import pickle

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.sklearn import CostSensitiveClassifier
from csdl_keras.sklearn._training import validation_split
from csdl_keras.training.algorithm import Algorithm
from tests.sklearn.fitted import COSTS, LABELS, MATRIX, SETTINGS, X, Y, estimator
from tests.trainers import DATA

ROWS = ["dnn_bayes", "dnn_blind", "min", "dnn_weighted", "dnn_sosr", "cost_model", "csosr"]
INDICES = np.arange(90) % 3


def split(y, fraction=0.15, seed=0):
    return validation_split(y, fraction, np.random.RandomState(seed))


def outputs(model):
    """What a model says of all examples."""
    if isinstance(model, keras.Model):
        return model.predict(X.astype("float32"), verbose=0)
    return model.predict_costs(X.astype("float32"))


class TestRows:
    @pytest.mark.parametrize("name", ROWS)
    @pytest.mark.parametrize("own_costs", [False, True])
    def test_decisions_of_train_on_the_same_split(self, name, own_costs, run_eagerly):
        kept, held_out = split(INDICES)
        x = X.astype("float32")
        parts = [(x[rows], INDICES[rows], COSTS[rows]) for rows in (kept, held_out)]
        arguments = {"settings": SETTINGS, "seed": 0}
        if own_costs:
            model = csdl.train(
                name, *parts[0][:2], costs=parts[0][2], validation_data=parts[1], **arguments
            )
            found = estimator(name, cost_matrix=None).fit(X, Y, costs=COSTS)
        else:
            model = csdl.train(
                name, *parts[0][:2], MATRIX, validation_data=parts[1][:2], **arguments
            )
            found = estimator(name).fit(X, Y)
        np.testing.assert_array_equal(found.predict(X), LABELS[csdl.decide(model, x)])
        np.testing.assert_allclose(outputs(found.model_), outputs(model), rtol=1e-4, atol=1e-6)

    @pytest.mark.parametrize("name", ["dnn_bayes", "dnn_blind", "min"])
    def test_costs_are_expected_under_the_probabilities(self, name, run_eagerly):
        found = estimator(name).fit(X, Y)
        probabilities, costs = found.predict_proba(X), found.predict_cost(X)
        expected = np.zeros((90, 3))
        for n in range(90):
            for decision in range(3):
                for true in range(3):
                    expected[n, decision] += probabilities[n, true] * MATRIX[true, decision]
        np.testing.assert_allclose(costs, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-5)
        by = costs.argmin(axis=1) if name == "dnn_bayes" else probabilities.argmax(axis=1)
        np.testing.assert_array_equal(found.predict(X), LABELS[by])

    def test_the_matrix_the_other_way_round_decides_otherwise(self, run_eagerly):
        right, wrong = (
            estimator(cost_matrix=matrix).fit(X, Y).predict(X) for matrix in (MATRIX, MATRIX.T)
        )
        assert np.any(right != wrong)

    @pytest.mark.parametrize("name", ["dnn_sosr", "cost_model", "csosr"])
    def test_estimates_are_in_the_unit_of_the_costs(self, name, run_eagerly):
        found = [estimator(name, cost_matrix=scale * MATRIX).fit(X, Y) for scale in (1, 100)]
        small, large = (model.predict_cost(X) for model in found)
        np.testing.assert_allclose(100 * small, large, rtol=1e-3, atol=0.05)
        np.testing.assert_array_equal(found[0].predict(X), LABELS[small.argmin(axis=1)])
        assert not any(hasattr(it, "predict_proba") for it in (estimator(name), found[0]))

    def test_poisson_costs(self, run_eagerly):
        row = Algorithm("poisson", "Poisson", "mlp", "none", "poisson", "argmin")
        small, large = (
            estimator(row, cost_matrix=scale * MATRIX).fit(X, Y).predict_cost(X)
            for scale in (1, 100)
        )
        np.testing.assert_allclose(100 * small, large, rtol=1e-3)

    def test_an_ensemble(self, run_eagerly):
        found = estimator(ensemble=2).fit(X, Y)
        assert [layer.name for layer in found.model_.layers if "member" in layer.name] == [
            "member_0",
            "member_1",
        ]
        assert found.predict_proba(X).shape == (90, 3)

    def test_images_and_the_default_row(self, run_eagerly):
        model = estimator("calibrated_bayes", cost_matrix=None, settings=SETTINGS.limit_epochs(1))
        model.fit(DATA.x_train, DATA.y_train)
        assert model.predict(DATA.x_test[:5]).shape == (5,)
        np.testing.assert_array_equal(model.cost_matrix_, 1 - np.eye(10))
        with pytest.raises(ValueError, match=r"shape \(N, 8, 8, 1\), as in `fit`; received"):
            model.predict(DATA.x_test[:5, :, :7])


class TestValidation:
    def test_without_a_fraction_all_examples_are_trained_on(self, run_eagerly):
        found = estimator(validation_fraction=0).fit(X, Y)
        model = csdl.train("dnn_bayes", X, INDICES, MATRIX, settings=SETTINGS, seed=0)
        np.testing.assert_array_equal(
            found.predict_cost(X), model.predict(X.astype("float32"), verbose=0)
        )

    def test_too_few_examples_are_all_trained_on(self, run_eagerly):
        found, twin = (
            estimator(validation_fraction=fraction).fit(X[:6], Y[:6]) for fraction in (0.15, 0)
        )
        np.testing.assert_array_equal(found.predict_cost(X), twin.predict_cost(X))


class TestRandomState:
    def fit(self, random_state):
        return estimator(random_state=random_state).fit(X, Y).predict_cost(X)

    def test_an_integer_fixes_everything(self, run_eagerly):
        np.testing.assert_array_equal(self.fit(3), self.fit(3))
        assert np.abs(self.fit(3) - self.fit(4)).max() > 1e-4

    def test_a_generator_is_drawn_from(self, run_eagerly):
        generator = np.random.RandomState(5)
        first, second = self.fit(generator), self.fit(generator)
        np.testing.assert_array_equal(first, self.fit(np.random.RandomState(5)))
        assert np.abs(first - second).max() > 1e-4

    def test_none_follows_the_global_seed(self, run_eagerly):
        keras.utils.set_random_seed(5)
        first, second = self.fit(None), self.fit(None)
        keras.utils.set_random_seed(5)
        np.testing.assert_array_equal(first, self.fit(None))
        assert np.abs(first - second).max() > 1e-4


class TestDecisionsThatAreNoClass:
    PRICED = csdl.costs.with_abstain(MATRIX, price=0.6)

    @pytest.mark.parametrize(
        ("labels", "other", "label"),
        [
            (Y, None, "decision_3"),
            (Y, ["abstain"], "abstain"),
            (INDICES - 1, None, 2),
            (INDICES, ["abstain"], "abstain"),
        ],
        ids=["strings", "named", "numbers", "mixed"],
    )
    def test_their_labels(self, labels, other, label, run_eagerly):
        found = estimator(cost_matrix=self.PRICED, other_decisions=other).fit(X, labels)
        costs = found.predict_cost(X)
        assert costs.shape == (90, 4) and found.predict_proba(X).shape == (90, 3)
        expected = [[*np.unique(labels).tolist(), label][index] for index in costs.argmin(axis=1)]
        assert found.predict(X).tolist() == expected and label in expected

    def test_what_is_refused(self):
        for other in (["a", "b"], "abstain", ["dog"]):
            with pytest.raises(ValueError, match="Expected .*label"):
                estimator(cost_matrix=self.PRICED, other_decisions=other).fit(X, Y)


class TestScore:
    def test_minus_the_average_cost(self, run_eagerly):
        model = estimator().fit(X, Y)
        decisions = model.predict(X)
        weights = np.arange(90.0)
        paid, own = [], []
        for n in range(90):
            column = list(LABELS).index(decisions[n])
            paid.append(MATRIX[list(LABELS).index(Y[n]), column])
            own.append(COSTS[n, column])
        assert model.score(X, Y) == pytest.approx(-np.mean(paid))
        assert model.score(X, Y, costs=COSTS) == pytest.approx(-np.mean(own))
        weighted = -np.sum(weights * paid) / np.sum(weights)
        assert model.score(X, Y, sample_weight=weights) == pytest.approx(weighted)

    def test_own_costs_are_asked_for(self, run_eagerly):
        model = estimator(cost_matrix=None).fit(X, Y, costs=COSTS)
        with pytest.raises(ValueError, match="Expected `costs` of each example"):
            model.score(X, Y)
        with pytest.raises(ValueError, match=r"Expected `costs` of shape \(N, 3\)"):
            model.score(X, Y, costs=COSTS[:, :2])
        with pytest.raises(ValueError, match="a row for each of 90 labels"):
            model.score(X, Y, costs=COSTS[1:])
        assert model.score(X, Y, costs=COSTS) <= 0


class TestPickle:
    @pytest.mark.parametrize("name", ["calibrated_bayes", "csosr", "cost_model"])
    def test_a_fitted_estimator(self, name, run_eagerly):
        model = estimator(name).fit(X, Y)
        loaded = pickle.loads(pickle.dumps(model))
        np.testing.assert_allclose(loaded.predict_cost(X), model.predict_cost(X), rtol=1e-6)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert hasattr(loaded, "predict_proba") == hasattr(model, "predict_proba")


class TestPandas:
    def test_frames_and_series(self, run_eagerly):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=list("abcd"))
        labels = pandas.Series(Y, index=np.arange(90) + 7)
        model = estimator().fit(frame, labels)
        twin = estimator().fit(X, Y)
        np.testing.assert_array_equal(model.predict_cost(frame), twin.predict_cost(X))
        assert model.score(frame, labels) == twin.score(X, Y)
        assert model.feature_names_in_.tolist() == list("abcd")
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[list("bacd")])


def test_settings_are_heeded(run_eagerly):
    other = SETTINGS.replace({"mlp.hidden_units": (5,)})
    model = CostSensitiveClassifier("dnn_sosr", settings=other).fit(X, Y)
    assert [weights.shape for weights in model.model_.get_weights()][0] == (4, 5)
