"""Tests of the average cost of decisions."""

import keras
import numpy as np
import pytest

import csdl_keras
from csdl_keras.metrics import AverageCost
from tests.metrics.loops import BY_KIND, LABELS, ONE_COLUMN, OUTPUTS, decide
from tests.support.testing import TestCase, floatx, to_numpy

C = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 4.0], [3.0, 6.0, 0.0]])
ABSTAIN = np.array([[0.0, 1.0, 0.5], [2.0, 0.0, 0.25]])
COSTS = np.random.default_rng(0).uniform(size=(7, 3)).round(2)


def example_cost(output="cost", matrix=None):
    """What one example pays, from its costs or label and its outputs."""

    def cost(target, outputs):
        costs = target if matrix is None else matrix[int(target)]
        return costs[decide(outputs, output)]

    return cost


class TestAverageCost(TestCase):
    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_contract_on_cost_vectors(self, output):
        make = lambda: AverageCost(output=output)  # noqa: E731
        outputs, activation = BY_KIND[output]
        self.run_metric_test(make, COSTS, outputs, example_cost(output), activation)

    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_contract_on_labels(self, output):
        make = lambda: AverageCost(C, output=output)  # noqa: E731
        outputs, activation = BY_KIND[output]
        self.run_metric_test(make, LABELS, outputs, example_cost(output, C), activation)

    def test_contract_on_one_sigmoid_column(self):
        matrix = C[:2, :2]
        self.run_metric_test(
            lambda: AverageCost(matrix, output="probability"),
            LABELS % 2,
            ONE_COLUMN,
            example_cost("probability", matrix),
            activation="sigmoid",
        )

    def test_more_decisions_than_classes(self):
        metric = self.run_config_round_trip(AverageCost(ABSTAIN))
        self.assertAllClose(metric(np.array([0, 1]), np.array([[1, 2, 0], [1, 1, 0]])), 0.375)

    @pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32"])
    @pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
    def test_forms_of_labels(self, dtype, shape):
        expected = AverageCost()(C[LABELS], OUTPUTS)
        labels = LABELS.astype(dtype).reshape(shape)
        self.assertAllClose(AverageCost(C)(labels, OUTPUTS), expected)
        self.assertAllClose(AverageCost(C)(labels.tolist(), OUTPUTS), expected)

    def test_ties_take_the_lowest_index(self):
        costs = np.array([[1.0, 10.0, 100.0]])
        for output, row in (("cost", [2.0, 1.0, 1.0]), ("probability", [0.2, 0.4, 0.4])):
            metric = AverageCost(output=output)
            self.assertAllClose(metric(costs, np.array([row])), 10.0)

    def test_sample_weight_in_evaluate(self):
        model = keras.Sequential([keras.Input((3,)), keras.layers.Activation("linear")])
        model.compile(loss="mse", weighted_metrics=[AverageCost()])
        weights = np.array([1.0, 0, 3, 0.5, 0, 2, 7])
        logs = model.evaluate(
            OUTPUTS, COSTS, sample_weight=weights, batch_size=3, verbose=0, return_dict=True
        )
        paid = [costs[decide(outputs)] for costs, outputs in zip(COSTS, OUTPUTS, strict=True)]
        self.assertAllClose(logs["average_cost"], np.average(paid, weights=weights))

    def test_reset_state(self):
        metric = AverageCost()
        metric.update_state(np.array([[4.0, 9.0]]), np.array([[0.0, 2.0]]))
        metric.reset_state()
        metric.update_state(np.array([[1.0, 9.0]]), np.array([[0.0, 2.0]]))
        self.assertAllClose(metric.result(), 1.0)

    @pytest.mark.parametrize("output", ["cost", "probability"])
    @pytest.mark.parametrize("column", [0, 1, 2])
    def test_nan_prediction_gives_nan(self, output, column):
        outputs = BY_KIND[output][0].copy()
        outputs[3, column] = np.nan
        assert np.isnan(to_numpy(AverageCost(output=output)(COSTS, outputs)))

    def test_nan_sigmoid_column_gives_nan(self):
        metric = AverageCost(C[:2, :2], output="probability")
        assert np.isnan(to_numpy(metric(np.array([0, 1]), np.array([[0.5], [np.nan]]))))

    def test_nan_cost_gives_nan(self):
        costs = COSTS.copy()
        costs[0, 2] = np.nan  # not the decision that is paid for
        assert np.isnan(to_numpy(AverageCost()(costs, OUTPUTS)))

    @pytest.mark.parametrize(
        ("labels", "message"), [([0, 3], "below 3"), ([-1, 0], "received -1"), ([0.5, 1], "float")]
    )
    def test_wrong_labels(self, labels, message):
        with pytest.raises(ValueError, match=message):
            AverageCost(C).update_state(np.array(labels), OUTPUTS[:2])

    def test_wrong_label_gives_nan_in_evaluate(self):
        model = keras.Sequential([keras.Input((3,)), keras.layers.Activation("linear")])
        model.compile(loss=lambda _, outputs: outputs, metrics=[AverageCost(C)])
        for labels, wrong in (([0, 1], False), ([0, 3], True), ([-1, 1], True)):
            logs = model.evaluate(OUTPUTS[:2], np.array(labels), verbose=0, return_dict=True)
            assert np.isnan(logs["average_cost"]) == wrong

    def test_early_stopping(self):
        """A learning rate of 0 improves nothing, so training stops after the second epoch."""
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3)])
        model.compile(keras.optimizers.SGD(0.0), loss="mse", metrics=[AverageCost()])
        stop = keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=1)
        data = (OUTPUTS, COSTS)
        logs = model.fit(*data, epochs=5, validation_data=data, callbacks=[stop], verbose=0).history
        expected = AverageCost()(COSTS, model.predict(OUTPUTS, verbose=0))
        self.assertAllClose(np.array(logs["val_average_cost"]), np.full(2, float(expected)))

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_16_bit_floatx(self, dtype):
        """Counts above 2048 and labels above 256 are beyond 16 bits."""
        matrix = 1.0 + np.arange(1000.0)[:, None] + np.zeros(1000)
        np.fill_diagonal(matrix, 0.0)
        labels = np.tile([3, 257, 999, 513], 1000)
        with floatx(dtype):
            metric = AverageCost(matrix)
            assert metric.dtype == "float32"
            for part in np.split(labels, 4):
                metric.update_state(part, keras.ops.zeros((1000, 1000), dtype=dtype))
        self.assertAllClose(metric.result(), matrix[labels, 0].mean())


class TestClassCost(TestCase):
    """The average over one class's examples."""

    @pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_of_each_class(self, shape, weighted):
        weights = np.arange(7.0) if weighted else np.ones(7)
        paid = np.array([C[y, decide(row)] for y, row in zip(LABELS, OUTPUTS, strict=True)])
        for k in range(3):
            metric = self.run_config_round_trip(AverageCost(C, class_id=k, name=f"cost_{k}"))
            for part in (slice(0, 4), slice(4, None)):
                sample_weight = weights[part].reshape(shape) if weighted else None
                metric.update_state(LABELS[part].reshape(shape), OUTPUTS[part], sample_weight)
            expected = np.average(paid[LABELS == k], weights=weights[LABELS == k])
            self.assertAllClose(metric.result(), expected)

    def test_a_class_without_examples(self):
        metric = AverageCost(C, class_id=1)
        metric.update_state(np.array([0, 2]), OUTPUTS[:2])
        self.assertAllClose(metric.result(), 0.0)

    def test_in_evaluate(self):
        model = keras.Sequential([keras.Input((3,)), keras.layers.Activation("linear")])
        metrics = [AverageCost(C, class_id=k, name=f"cost_{k}") for k in range(3)]
        model.compile(loss=lambda _, outputs: outputs, metrics=metrics)
        logs = model.evaluate(OUTPUTS, LABELS, batch_size=2, verbose=0, return_dict=True)
        paid = np.array([C[y, decide(row)] for y, row in zip(LABELS, OUTPUTS, strict=True)])
        for k in range(3):
            self.assertAllClose(logs[f"cost_{k}"], paid[LABELS == k].mean())

    @pytest.mark.parametrize("arguments", [{}, {"cost_matrix": C}])
    def test_what_it_refuses(self, arguments):
        with pytest.raises(ValueError, match="received"):
            AverageCost(**arguments, class_id=3)


class TestErrors:
    @pytest.mark.parametrize("output", ["costs", "logits", 0])
    def test_unknown_output(self, output):
        with pytest.raises(ValueError, match="`output`.*'cost', 'probability'"):
            AverageCost(output=output)

    def test_wrong_matrix(self):
        with pytest.raises(ValueError, match="diagonal"):
            AverageCost([[1.0, 0.0], [0.0, 1.0]])

    @pytest.mark.parametrize(
        ("metric", "target", "hint"),
        [
            (lambda: AverageCost(), COSTS[:, :2], "give the metric a `cost_matrix`"),
            (lambda: AverageCost(), LABELS, "give the metric a `cost_matrix`"),
            (lambda: AverageCost(C[:2, :2]), LABELS % 2, "as many columns"),
        ],
    )
    def test_widths_differ(self, metric, target, hint):
        with pytest.raises(ValueError, match=r"and \(7, 3\)") as error:
            metric().update_state(target, OUTPUTS)
        assert hint in str(error.value)

    def test_outputs_of_one_dimension(self):
        with pytest.raises(ValueError, match=r"`y_pred` of shape .*received \(3,\)"):
            AverageCost().update_state(COSTS, OUTPUTS[0])


class TestBayes(TestCase):
    """The Bayes decision on probabilities."""

    @staticmethod
    def example_cost(matrix):
        def cost(label, probabilities):
            if len(probabilities) == 1:
                probabilities = np.array([1 - probabilities[0], probabilities[0]])
            expected = [
                sum(probabilities[y] * matrix[y][k] for y in range(len(matrix)))
                for k in range(matrix.shape[1])
            ]
            return matrix[int(label)][int(np.argmin(expected))]

        return cost

    @pytest.mark.parametrize("abstain", [False, True])
    def test_contract(self, abstain):
        matrix = np.hstack([C, np.full((3, 1), 0.75)]) if abstain else C
        probabilities = np.random.default_rng(1).dirichlet(np.ones(3), 7).astype("float32")
        self.run_metric_test(
            lambda: AverageCost(matrix, output="probability", bayes=True),
            LABELS,
            probabilities,
            self.example_cost(matrix),
            activation="softmax",
        )

    def test_one_sigmoid_column(self):
        matrix = np.array([[0.0, 1.0], [3.0, 0.0]])
        metric = AverageCost(matrix, output="probability", bayes=True)
        expected = [
            self.example_cost(matrix)(label, p)
            for label, p in zip(LABELS % 2, ONE_COLUMN, strict=True)
        ]
        self.assertAllClose(metric(LABELS % 2, ONE_COLUMN), np.mean(expected))

    def test_equals_what_the_bayes_classifier_pays(self):
        keras.utils.set_random_seed(0)
        x = np.random.default_rng(2).normal(size=(7, 4)).astype("float32")
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "softmax")])
        metric = AverageCost(C, output="probability", bayes=True)
        careful = csdl_keras.bayes_classifier(model, C)
        paid = C[LABELS, csdl_keras.decide(careful, x)].mean()
        assert paid != C[LABELS, csdl_keras.decide(model, x)].mean()
        self.assertAllClose(metric(LABELS, model.predict(x, verbose=0)), paid)

    def test_rows_that_are_no_distribution(self):
        metric = AverageCost(C, bayes=True)
        with pytest.raises(ValueError, match="sum to 1.*7 of 7 rows"):
            metric(LABELS, 2.0 * np.ones((7, 3), "float32"))

    @pytest.mark.parametrize(
        "arguments",
        [{"output": "probability"}, {}, {"cost_matrix": C, "output": "cost"}],
    )
    def test_needs_matrix_and_probabilities(self, arguments):
        with pytest.raises(ValueError, match="with bayes=True; received"):
            AverageCost(**arguments, bayes=True)

    def test_wrong_arguments(self):
        with pytest.raises(ValueError, match="`bayes` to be a bool; received 1"):
            AverageCost(C, output="probability", bayes=1)
        metric = AverageCost(C, output="probability", bayes=True)
        with pytest.raises(ValueError, match="Expected 3 probabilities.*received 4"):
            metric(LABELS, np.full((7, 4), 0.25, "float32"))
