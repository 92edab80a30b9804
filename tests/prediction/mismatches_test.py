"""What a loss, metric or activation of the wrong kind gives: at once, in `fit` and in `decide`."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import csdl_keras as csdl
from csdl_keras import losses
from tests.support.small_models import Subclassed, functional, inputs
from tests.support.testing import to_numpy

C = np.array([[0.0, 1.0, 0.5], [0.9, 0.0, 0.1], [0.3, 0.7, 0.0]])
X, LABELS = inputs(12), np.arange(12) % 3
P = np.random.default_rng(1).dirichlet(np.ones(3), 12).astype("float32")
ENTROPY = "sparse_categorical_crossentropy"
LOGITS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
REGRESSIONS = (losses.SOSRLoss, losses.PoissonCostLoss)
METRICS = (csdl.AverageCost, csdl.NormalizedCost)
GRAPH = keras.backend.backend() != "torch"


def refused(match):
    return pytest.raises(ValueError, match=match)


def fit(model, loss, *metrics, y=LABELS, **arguments):
    model.compile("sgd", loss, metrics=list(metrics))
    return model.fit(X, y, batch_size=6, verbose=0, **arguments).history


class TestLosses:
    @pytest.mark.parametrize("make", REGRESSIONS)
    def test_probabilities_are_no_estimates_of_costs(self, make):
        for loss, y in ((make(C), LABELS), (make(), C[LABELS])):
            for outputs in (P, ops.convert_to_tensor(P)):
                with refused("rows that sum to 1"):
                    loss(y, outputs)
            assert np.isfinite(float(loss(y, 2 * P)))
            softmax = functional([layers.Dense(3, "softmax")])
            if GRAPH:
                assert np.isnan(fit(softmax, loss, y=y)["loss"]).all()
            else:
                with refused("rows that sum to 1"):
                    fit(softmax, loss, y=y)
            for function in (csdl.decide, lambda model, x: csdl.bayes_classifier(model, C)):
                with refused("Expected a loss that trains scores.*trains estimates of costs"):
                    function(softmax, X)

    def test_few_costs_may_sum_to_1(self):
        loss = losses.SOSRLoss(C)
        for rows in (P[:3], np.tile(P[:1], (8, 1))):
            assert np.isfinite(float(loss(LABELS[: len(rows)], ops.convert_to_tensor(rows))))
        zero_one = csdl.costs.zero_one(2)
        labels, estimates = LABELS % 2, zero_one[LABELS % 2].astype("float32")
        assert np.isfinite(float(losses.SOSRLoss(zero_one)(labels, estimates)))
        assert np.isfinite(float(losses.SOSRLoss()(zero_one[labels], estimates)))

    def test_told(self):
        for output in ("probability", "logits"):
            with refused(f"'sosr_loss' trains estimates of costs.*output='{output}'"):
                losses.SOSRLoss(C, output=output)
        logits = np.log(P)
        found = losses.MINLoss(C, output="logits")(LABELS, logits)
        np.testing.assert_allclose(float(found), float(losses.MINLoss(C)(LABELS, P)), rtol=1e-5)
        with refused("'probability', 'logits'"):
            losses.MINLoss(C, output="cost")

    def test_losses_of_classifiers_on_costs(self):
        model = functional([csdl.CostOutput(3)])
        for loss in (LOGITS, losses.MINLoss(C)):
            fit(model, loss)
            with refused("Expected a loss that trains estimates of costs"):
                csdl.decide(model, X)
        linear = functional([layers.Dense(3)])
        fit(linear, losses.SOSRLoss(C))
        with refused("for the logits of"):
            csdl.bayes_classifier(linear, C, from_logits=True)
        np.testing.assert_array_equal(csdl.decide(linear, X, "cost"), to_numpy(linear(X)).argmin(1))

    def test_expected_cost(self):
        softmax = functional([layers.Dense(3, "softmax")])
        with refused("Expected a loss that trains scores of classes"):
            softmax.compile("sgd", losses.expected_cost)
            csdl.decide(softmax, X)


class TestMetrics:
    @pytest.mark.parametrize("make", METRICS)
    def test_arrays(self, make):
        for output, outputs, match in (
            (None, P, "instead of costs.*or output='cost'"),
            ("cost", P, "instead of costs.*output='probability'"),
            ("probability", np.log(P), "12 rows that are not probabilities"),
            ("probability", 1.2 * P, "12 rows that are not probabilities"),
            ("logits", P, "instead of logits"),
        ):
            metric = make(C, output=output)
            with refused(match):
                metric.update_state(LABELS, outputs)
            assert float(metric.total) == 0.0
            right = P if output == "probability" else np.log(P)
            assert np.isfinite(float(make(C, output=output)(LABELS, right)))

    def test_fit(self):
        """The error comes at the end of the first epoch."""
        make = csdl.AverageCost
        softmax, linear = functional([layers.Dense(3, "softmax")]), functional([layers.Dense(3)])
        with refused("rows that sum to 1.*instead of costs"):
            fit(softmax, ENTROPY, make(C))
        with refused("12 rows that are not probabilities"):
            fit(linear, LOGITS, make(C, output="probability"))
        with refused("instead of logits"):
            fit(softmax, ENTROPY, make(C, output="logits"))

    def test_told(self):
        linear = functional([layers.Dense(3)])
        scores = csdl.AverageCost(C, "logits"), csdl.AverageCost(C, "logits", bayes=True, name="b")
        logs = fit(linear, LOGITS, *scores, validation_data=(X, LABELS))
        careful = csdl.bayes_classifier(linear, C, from_logits=True)
        decided = {"average_cost": to_numpy(linear(X)).argmax(1), "b": csdl.decide(careful, X)}
        for name, one in decided.items():
            np.testing.assert_allclose(logs[f"val_{name}"], C[LABELS, one].mean(), rtol=1e-5)

    def test_costs_that_sum_to_1(self):
        """Expected costs under such a matrix are distributions themselves."""
        for matrix in (csdl.costs.zero_one(2), csdl.costs.zero_one(3) / 2):
            labels = LABELS % len(matrix)
            classifier = functional([layers.Dense(len(matrix), "softmax")])
            careful = csdl.bayes_classifier(classifier, matrix)
            careful.compile(loss=losses.expected_cost, metrics=[csdl.AverageCost(matrix, "cost")])
            found = careful.evaluate(X, labels, verbose=0, return_dict=True)["average_cost"]
            paid = matrix[labels, csdl.decide(careful, X)].mean()
            np.testing.assert_allclose(found, paid, rtol=1e-5)


def test_structure_unknown():
    """What the structure does not tell is told by values."""
    model = Subclassed(3, "softmax")
    model.build((None, *X.shape[1:]))
    with refused("rows of outputs sum to 1"):
        csdl.decide(model, X, output="cost")
    with refused("are not probabilities"):
        csdl.decide(Subclassed(3), X, output="probability")
