"""Tests of class probabilities with costs that depend on the example."""

import keras
import numpy as np
import pytest

from csdl_keras import costs, decide, output_kind
from csdl_keras.losses import ObservedCostLoss, poisson_cost
from csdl_keras.models import ExpectedCostModel, expected_cost_model, labelled_costs
from tests.support.small_models import FEATURES, inputs
from tests.support.testing import TestCase, to_numpy

X = inputs(30)
RNG = np.random.default_rng(0)
LABELS = np.arange(30) % 3
MATRIX = np.array([[0.0, 1.0, 4.0, 0.5], [9.0, 0.0, 2.0, 0.5], [0.5, 7.0, 0.0, 0.5]])
COSTS = MATRIX[LABELS] * RNG.uniform(0.5, 1.5, size=(30, 1))
MEANS = costs.class_means(LABELS, COSTS)


def body(units=6):
    end = keras.Input((FEATURES,))
    return keras.Model(end, keras.layers.Dense(units, "tanh")(end))


def moved(model):
    """`model` with random weights where it has trainable ones."""
    for weight in model.trainable_weights:
        weight.assign(RNG.normal(scale=0.3, size=weight.shape))
    return model


class TestExpectedCostModel(TestCase):
    @pytest.mark.parametrize("rank", [None, 2])
    def test_equals_numpy(self, rank):
        model = moved(expected_cost_model(body(), MEANS, rank=rank))
        outputs = model.predict(X, verbose=0)
        p, log_costs = outputs["probability"], outputs["class_costs"]
        self.assertAllClose(p.sum(axis=1), np.ones(30))
        assert log_costs.shape == (30, 3, 4)
        amounts = np.exp(log_costs.astype("float64"))
        assert np.all(amounts[:, MEANS == 0] == 0) and np.all(amounts[:, MEANS > 0] > 0)
        expected = [
            [sum(p[n, y] * amounts[n, y, k] for y in range(3)) for k in range(4)] for n in range(30)
        ]
        self.assertAllClose(outputs["expected_cost"], np.array(expected), rtol=1e-4)

    @pytest.mark.parametrize("rank", [None, 2])
    def test_begins_at_the_mean_costs(self, rank):
        outputs = expected_cost_model(body(), MEANS, rank=rank).predict(X, verbose=0)
        expected = outputs["probability"] @ MEANS
        self.assertAllClose(outputs["expected_cost"], expected, rtol=1e-4)

    @pytest.mark.parametrize("weight", [1.0, 0.25])
    def test_loss(self, weight):
        model = moved(expected_cost_model(body(), MEANS))
        model.compile("sgd", **model.losses_and_weights(weight))
        outputs = model.predict(X, verbose=0)
        logs = model.evaluate(X, labelled_costs(LABELS, COSTS), verbose=0, return_dict=True)
        likelihood = -np.log(outputs["probability"][np.arange(30), LABELS]).mean()
        deviance = 0.0
        for n, label in enumerate(LABELS):
            for k in np.flatnonzero(MEANS[label]):
                c, u = COSTS[n, k], float(outputs["class_costs"][n, label, k])
                deviance += np.exp(u) - c * u + c * np.log(c) - c
        self.assertAllClose(logs["loss"], likelihood + weight * deviance / 30, rtol=1e-4)

    @pytest.mark.parametrize("rank", [None, 1])
    def test_learns_costs_that_depend_on_the_example(self, rank):
        rng = np.random.default_rng(1)
        x = rng.normal(size=(600, FEATURES)).astype("float32")
        y = rng.integers(2, size=600)
        amounts = np.exp(x[:, :1]) * np.array([[0.0, 1.0], [2.0, 0.0]])[y]
        means = costs.class_means(y, amounts)
        keras.utils.set_random_seed(0)
        end = keras.Input((FEATURES,))
        model = expected_cost_model(
            keras.Model(end, keras.layers.Concatenate()([end, keras.layers.Dense(8, "tanh")(end)])),
            means,
            rank=rank,
            seed=0,
        )
        model.compile(keras.optimizers.Adam(0.03), **model.losses_and_weights())
        model.fit(x, labelled_costs(y, amounts), epochs=40, batch_size=100, verbose=0)
        found = np.exp(to_numpy(model(x)["class_costs"]))
        true = np.exp(x[:, 0])
        assert np.corrcoef(np.log(found[:, 0, 1]), np.log(true))[0, 1] > 0.98
        if rank is None:
            assert np.median(np.abs(found[:, 1, 0] / (2 * true) - 1)) < 0.15

    @pytest.mark.parametrize("batch", [None, 4])
    def test_targets_in_a_pipeline(self, batch):
        tf = pytest.importorskip("tensorflow")
        data = tf.data.Dataset.from_tensor_slices((X, LABELS, COSTS))
        if batch is not None:
            data = data.batch(batch)
        data = data.map(lambda x, y, c: (x, labelled_costs(y, c)))
        if batch is None:
            data = data.batch(10)
        found = next(iter(data))[1]
        size = len(found["probability"])
        wanted = labelled_costs(LABELS[:size], COSTS[:size])
        for name, values in wanted.items():
            np.testing.assert_allclose(found[name].numpy(), values, rtol=1e-6)

    def test_targets_as_tables_are_checked(self):
        pandas = pytest.importorskip("pandas")
        found = labelled_costs(pandas.Series(LABELS), pandas.DataFrame(COSTS))
        np.testing.assert_array_equal(
            found["class_costs"], labelled_costs(LABELS, COSTS)["class_costs"]
        )
        with pytest.raises(ValueError, match="`labels`"):
            labelled_costs(pandas.Series([0, -5]), pandas.DataFrame(COSTS[:2]))

    def test_its_decisions(self):
        model = moved(expected_cost_model(body(), MEANS))
        costs_alone = model.cost_model()
        assert output_kind(costs_alone) == "cost"
        expected = model.predict(X, verbose=0)["expected_cost"].argmin(axis=1)
        np.testing.assert_array_equal(decide(costs_alone, X), expected)

    def test_saved_and_loaded(self, tmp_path):
        for rank in (None, 2):
            model = moved(expected_cost_model(body(), MEANS, rank=rank))
            model.save(tmp_path / "model.keras")
            loaded = keras.saving.load_model(tmp_path / "model.keras")
            assert isinstance(loaded, ExpectedCostModel)
            self.assertAllClose(loaded.predict(X, verbose=0), model.predict(X, verbose=0))

    def test_deciding_by_the_model_of_training_names_the_right_one(self):
        with pytest.raises(ValueError, match=r"cost_model\(\)"):
            decide(expected_cost_model(body(), MEANS), X)

    def test_what_it_refuses(self):
        with pytest.raises(ValueError, match="`mean_costs`"):
            expected_cost_model(body(), -MEANS)
        with pytest.raises(ValueError, match="one output of shape"):
            expected_cost_model(keras.Sequential([keras.Input((4, 4)), keras.layers.ReLU()]), MEANS)
        with pytest.raises(ValueError, match="`rank`"):
            expected_cost_model(body(), MEANS, rank=0)
        with pytest.raises(ValueError, match="`costs` with a row for each of 30 labels"):
            labelled_costs(LABELS, COSTS[1:])


class TestObservedCostLoss(TestCase):
    def test_loop(self):
        log_costs = RNG.normal(size=(30, 3, 4)).astype("float32")
        targets = labelled_costs(LABELS, COSTS)["class_costs"]
        expected = [
            float(poisson_cost(COSTS[n : n + 1], log_costs[n : n + 1, y])[0])
            for n, y in enumerate(LABELS)
        ]
        loss = self.run_config_round_trip(ObservedCostLoss(reduction=None))
        self.assertAllClose(loss(targets, log_costs), np.array(expected), rtol=1e-4)

    @pytest.mark.parametrize("label", [-1, 3, 0.5])
    def test_a_label_that_is_no_class_is_nan(self, label):
        targets = np.array([[label, 1.0, 1.0], [0, 1.0, 1.0]])
        values = to_numpy(ObservedCostLoss(reduction=None)(targets, np.zeros((2, 3, 2))))
        assert np.isnan(values).tolist() == [True, False]

    def test_shapes(self):
        with pytest.raises(ValueError, match="label and costs"):
            ObservedCostLoss()(np.zeros((2, 2)), np.zeros((2, 3, 2)))
