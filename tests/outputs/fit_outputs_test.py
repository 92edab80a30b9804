"""Tests that no loss, metric or decision takes a model's output for another kind."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import csdl_keras as csdl
from csdl_keras.sklearn import CostSensitiveClassifier
from tests.support.small_models import FEATURES, Subclassed, functional, inputs
from tests.support.testing import TestCase, dtype_policy

C = np.array([[0.0, 1.0, 0.5], [0.9, 0.0, 0.1], [0.3, 0.7, 0.0]])
X, LABELS = inputs(12), np.arange(12) % 3
ENTROPY = "sparse_categorical_crossentropy"
NO_SCORES, NO_ACCURACY = "Expected a loss of costs", "the costliest decision as the model's"
TORCH = keras.backend.backend() == "torch"


def fit(model, loss, metrics=(), y=LABELS, **arguments):
    model.compile("sgd", loss, metrics=list(metrics))
    logs = model.fit(X, y, verbose=0, **arguments).history
    assert np.isfinite(list(logs.values())).all()
    return logs


def refused(match):
    return pytest.raises(ValueError, match=match)


class Unaskable(Subclassed):
    """A softmax that raises for inputs of two examples."""

    def call(self, x):
        if len(x.shape) and x.shape[0] == 2:
            raise RuntimeError("no two examples")
        return super().call(x)


class Costs(Subclassed):
    output_kind = "cost"


class OwnStep(keras.Model):
    def train_step(self, *arguments):
        return super().train_step(*arguments)


class TestFit(TestCase):
    def test_average_cost_of_a_classifier_is_what_its_decisions_cost(self):
        model = functional([layers.Dense(3, "softmax")])
        metrics = [csdl.AverageCost(C), csdl.AverageCost(C, bayes=True, name="bayes"), "accuracy"]
        logs = fit(model, ENTROPY, [*metrics, csdl.DecisionAccuracy()], validation_data=(X, LABELS))
        plain, careful = csdl.decide(model, X), csdl.decide(csdl.bayes_classifier(model, C), X)
        self.assertAllClose(logs["val_average_cost"][-1], C[LABELS, plain].mean())
        self.assertAllClose(logs["val_bayes"][-1], C[LABELS, careful].mean())
        self.assertAllClose(logs["accuracy"], logs["decision_accuracy"])

    def test_softmax_in_16_bits(self):
        with dtype_policy("mixed_bfloat16"):
            fit(functional([layers.Dense(3, "softmax")]), ENTROPY, [csdl.AverageCost(C)])
            with refused("Pass output='probability'"):
                fit(Subclassed(3, "softmax"), "mse", [csdl.AverageCost()], y=C[LABELS])

    def test_structure_that_cannot_be_asked(self):
        """If nothing shows the kind before the first step, a compiled loss is NaN."""
        model = Unaskable(3, "softmax")
        model.compile("sgd", csdl.SOSRLoss(C), jit_compile=not TORCH)
        if TORCH:
            with refused("rows that sum to 1"):
                model.fit(X, LABELS, verbose=0)
        else:
            assert np.isnan(model.fit(X, LABELS, verbose=0).history["loss"]).all()

    def test_outputs_that_sum_to_1_as_their_costs_do(self):
        """If one mistake of two costs 1, expected costs are the probabilities swapped."""
        zero_one, labels = csdl.costs.zero_one(2), LABELS % 2
        model = functional([layers.Dense(2, "softmax"), csdl.BayesDecision(zero_one)])
        fit(model, csdl.SOSRLoss(zero_one), [csdl.AverageCost(zero_one)], y=labels)
        estimates = zero_one[labels].astype("float32")
        assert np.isfinite(float(csdl.SOSRLoss(zero_one)(labels, estimates)))
        assert np.isfinite(float(csdl.SOSRLoss()(zero_one[labels], estimates)))

    @pytest.mark.parametrize("named", [False, True])
    @pytest.mark.parametrize(
        ("part", "output", "value", "match"),
        [
            ("loss", "cost", csdl.SOSRLoss(C), None),
            ("loss", "cost", ENTROPY, NO_SCORES),
            ("loss", "a_class", csdl.SOSRLoss(C), "they are probabilities"),
            ("metrics", "cost", "accuracy", NO_ACCURACY),
            ("metrics", "a_class", csdl.AverageCost(C, "cost"), "for probabilities; received out"),
        ],
    )
    def test_two_outputs(self, named, part, output, value, match):
        start = keras.Input((FEATURES,))
        classes = layers.Dense(3, "softmax", name="a_class")(start)
        ends = {"a_class": classes, "cost": csdl.CostOutput(3, name="cost")(start)}
        y = dict.fromkeys(ends, LABELS)
        compiled = {
            "loss": {"a_class": ENTROPY, "cost": csdl.SOSRLoss(C)},
            "metrics": {"a_class": ["accuracy", csdl.AverageCost(C)], "cost": csdl.AverageCost(C)},
        }
        compiled[part][output] = value
        if not named:
            ends, y = list(ends.values()), list(y.values())
            compiled = {name: list(given.values()) for name, given in compiled.items()}
        model = keras.Model(start, ends)
        model.compile("sgd", **compiled)
        if match is None:
            assert np.isfinite(model.fit(X, y, verbose=0).history["loss"]).all()
        else:
            with refused(match):
                model.fit(X, y, verbose=0)

    def test_own_models(self):
        ends = keras.Input((FEATURES,))
        with refused("they are probabilities"):
            fit(OwnStep(ends, layers.Dense(3, "softmax")(ends)), csdl.SOSRLoss(C))
        fit(Costs(3, "softmax"), csdl.SOSRLoss(C), [csdl.AverageCost(C)])


class TestKerasOwnLossesAndMetrics(TestCase):
    """Only a layer, or one of several metrics, is from this package."""

    @pytest.mark.parametrize("loss", [ENTROPY, keras.losses.CategoricalHinge(), "kld"])
    def test_costs_trained_as_scores(self, loss):
        y = LABELS if loss == ENTROPY else np.eye(3)[LABELS]
        for end in ([csdl.CostOutput(3)], [layers.Dense(3, "softmax"), csdl.BayesDecision(C)]):
            with refused(NO_SCORES):
                fit(functional(end), loss, y=y)

    @pytest.mark.parametrize(
        "metric",
        [
            "acc",
            "sparse_categorical_accuracy",
            "AUC",
            "bce",
            keras.metrics.SparseTopKCategoricalAccuracy(k=2),
            keras.metrics.sparse_categorical_accuracy,
        ],
    )
    def test_metrics_of_classifiers(self, metric):
        for end, group in ((csdl.CostOutput(3), "metrics"), (layers.Dense(3), "weighted_metrics")):
            model = functional([end])
            # PyTorch computes these two, whose targets are vectors, before anything is refused.
            vectors = metric in ("AUC", "bce")
            loss = csdl.SOSRLoss() if vectors else csdl.SOSRLoss(C)
            model.compile("sgd", loss, **{group: [metric]})
            with refused(NO_ACCURACY):
                model.fit(X, C[LABELS] if vectors else LABELS, verbose=0)

    @pytest.mark.parametrize("given", [list, lambda loss: {"end": loss[0]}])
    def test_loss_in_a_list_or_dict(self, given):
        loss = given([ENTROPY])
        model = functional([csdl.CostOutput(3, name="end")])
        classifier = functional([layers.Dense(3, name="end")])
        with refused(NO_SCORES):
            fit(model, loss)
        with refused(NO_SCORES):
            csdl.decide(model, X)
        fit(classifier, loss)
        with refused(NO_SCORES):
            csdl.decide(classifier, X, output="cost")
        # What was checked with one loss is checked again with the next.
        fit(model, given([csdl.SOSRLoss(C)]), [csdl.AverageCost(C)])
        with refused(NO_ACCURACY):
            fit(model, csdl.SOSRLoss(C), ["accuracy"])

    def test_one_loss_for_several_outputs(self):
        start = keras.Input((FEATURES,))
        model = keras.Model(start, [csdl.CostOutput(3)(start), layers.Dense(3)(start)])
        with refused(NO_SCORES):
            fit(model, ENTROPY, y=[LABELS, LABELS])

    def test_metrics_of_costs_may_have_any_name(self):
        def accuracy(y_true, y_pred):
            return ops.argmin(y_true, axis=-1) == ops.argmin(y_pred, axis=-1)

        model = functional([csdl.CostOutput(3)])
        model.kept = keras.metrics.Accuracy(name="kept")  # For a step of the user's own.
        for metric in (csdl.DecisionAccuracy(name="accuracy"), accuracy):
            validation = (X, C[LABELS])
            metrics = [metric, "mean_absolute_error"]
            logs = fit(model, csdl.SOSRLoss(), metrics, C[LABELS], validation_data=validation)
            right = C[LABELS].argmin(1) == csdl.decide(model, X)
            self.assertAllClose(logs["val_accuracy"][-1], right.mean())

    def test_class_weight(self):
        weights = {0: 1.0, 1: 2.0, 2: 3.0}
        model = functional([csdl.CostOutput(3)])
        for loss, metrics in ((csdl.SOSRLoss(), []), ("mse", [csdl.AverageCost()])):
            fit(model, loss, metrics, C[LABELS])  # A fit without weights must not hide the check.
            trained = model.get_weights()
            with refused("Expected no `class_weight`"):
                model.fit(X, C[LABELS], class_weight=weights, verbose=0)
            # On PyTorch, metrics see outputs after the weights have changed.
            exact = loss != "mse" or not TORCH
            for one, other in zip(model.get_weights(), trained, strict=True):
                self.assertAllClose(one, other, rtol=1e-5 if exact else 1.0)
        with refused("Expected no `class_weight`"):
            model.train_on_batch(X, C[LABELS], class_weight=weights)
        fit(model, csdl.SOSRLoss(C), [csdl.AverageCost(C)], class_weight=weights)


@pytest.mark.parametrize("name", ["decision_model", "serving_model", "ensemble", "export"])
def test_wrong_output_arguments(name):
    for end, output in (
        (layers.Dense(3, "softmax"), "cost"),
        (csdl.CostOutput(3), "probability"),
        (layers.Dense(3), "probability"),
    ):
        model = functional([end])
        with refused("Expected"):
            if name == "export":
                csdl.export(model, "unwritten.onnx", "onnx", output=output)
            else:
                getattr(csdl.models, name)([model] if name == "ensemble" else model, output)


def test_networks_of_an_estimator():
    def build(input_shape, num_classes):
        model = functional([layers.Dense(3, "softmax")])
        model.compile("sgd", csdl.SOSRLoss())
        return model

    with refused("Expected"):
        CostSensitiveClassifier(build, C).fit(np.repeat(X, 3, axis=0), np.repeat(LABELS, 3))
