"""Tests that no loss, metric or decision takes a model's output for another kind."""

import keras
import numpy as np
import pytest
from keras import layers

import csdl_keras as csdl
from csdl_keras.losses import LogisticCostLoss, OneSidedLoss, PoissonCostLoss
from tests.support.small_models import FEATURES, Subclassed, functional, inputs
from tests.support.testing import TestCase, dtype_policy

C = np.array([[0.0, 1.0, 0.5], [0.9, 0.0, 0.1], [0.3, 0.7, 0.0]])
X, LABELS = inputs(12), np.arange(12) % 3
P = np.random.default_rng(1).dirichlet(np.ones(3), 12).astype("float32")
LOSSES = (csdl.SOSRLoss, OneSidedLoss, PoissonCostLoss, LogisticCostLoss)
METRICS = (csdl.AverageCost, csdl.NormalizedCost, csdl.Savings)
TWO = np.array([[0.0, 1.0], [0.25, 0.0]])


def fit(model, loss, metrics=(), y=LABELS, **arguments):
    model.compile("sgd", loss, metrics=list(metrics))
    return model.fit(X, y, verbose=0, **arguments).history


class Unaskable(Subclassed):
    """A softmax that refuses whatever is no part of the data."""

    def call(self, x):
        if len(x.shape) and x.shape[0] == 2:
            raise RuntimeError("no two examples")
        return super().call(x)


class TestFit(TestCase):
    def test_average_cost_of_a_classifier_is_what_its_decisions_pay(self):
        model = functional([layers.Dense(3, "softmax")])
        metrics = [csdl.AverageCost(C), csdl.AverageCost(C, bayes=True, name="bayes")]
        logs = fit(
            model,
            "sparse_categorical_crossentropy",
            metrics,
            epochs=3,
            validation_data=(X, LABELS),
        )
        plain, careful = csdl.decide(model, X), csdl.decide(csdl.bayes_classifier(model, C), X)
        self.assertAllClose(logs["val_average_cost"][-1], C[LABELS, plain].mean())
        self.assertAllClose(logs["val_bayes"][-1], C[LABELS, careful].mean())

    @pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
    def test_softmax_in_16_bits(self, policy):
        with dtype_policy(policy):
            model = functional([layers.Dense(3, "softmax")])
            logs = fit(model, "sparse_categorical_crossentropy", [csdl.AverageCost(C)])
            assert np.isfinite(logs["average_cost"]).all()
            with pytest.raises(ValueError, match="Pass output='probability'"):
                fit(Subclassed(3, "softmax"), "mse", [csdl.AverageCost()], y=C[LABELS])

    @pytest.mark.parametrize("make", LOSSES)
    @pytest.mark.parametrize("jit_compile", [False, True])
    def test_structure_that_cannot_be_asked(self, make, jit_compile):
        """Where nothing tells before the first step, a compiled loss is NaN."""
        if keras.backend.backend() == "torch" and jit_compile:
            pytest.skip("compiling takes a minute and needs a compiler of C++")
        model = Unaskable(3, "softmax")
        model.compile("sgd", make(C), jit_compile=jit_compile)
        if keras.backend.backend() == "torch":
            with pytest.raises(ValueError, match="rows that sum to 1"):
                model.fit(X, LABELS, verbose=0)
        else:
            assert np.isnan(model.fit(X, LABELS, verbose=0).history["loss"]).all()

    def test_outputs_that_sum_to_1_as_their_costs_do(self):
        """Where one mistake of two costs 1, expected costs are the probabilities swapped."""
        zero_one, labels = csdl.costs.zero_one(2), LABELS % 2
        model = functional([layers.Dense(2, "softmax"), csdl.BayesDecision(zero_one)])
        logs = fit(model, csdl.SOSRLoss(zero_one), [csdl.AverageCost(zero_one)], y=labels)
        assert np.isfinite(logs["loss"] + logs["average_cost"]).all()
        estimates = zero_one[labels].astype("float32")
        assert np.isfinite(float(csdl.SOSRLoss(zero_one)(labels, estimates)))
        assert np.isfinite(float(csdl.SOSRLoss()(zero_one[labels], estimates)))

    def test_a_model_of_several_outputs(self):
        ends = keras.Input((FEATURES,))
        outputs = {
            "classes": layers.Dense(3, "softmax", name="classes")(ends),
            "costs": csdl.CostOutput(3, name="costs")(ends),
        }
        model = keras.Model(ends, outputs)
        entropy = "sparse_categorical_crossentropy"
        targets = {"classes": LABELS, "costs": LABELS}

        def run(losses, metrics):
            model.compile("sgd", losses, metrics=metrics)
            return model.fit(X, targets, verbose=0).history

        def costs():
            return {name: [csdl.AverageCost(C, name=f"{name}_paid")] for name in targets}

        logs = run({"classes": entropy, "costs": csdl.SOSRLoss(C)}, costs())
        found = dict(zip(sorted(logs), sorted(logs), strict=True))
        assert any("classes_paid" in name for name in found)
        with pytest.raises(ValueError, match="they are probabilities"):
            run({"classes": csdl.SOSRLoss(C), "costs": csdl.SOSRLoss(C)}, None)
        wrong = {"classes": [csdl.AverageCost(C, output="cost")]}
        with pytest.raises(ValueError, match="for probabilities; received output='cost'"):
            run({"classes": entropy, "costs": csdl.SOSRLoss(C)}, wrong)

    def test_own_train_step(self):
        class Own(keras.Model):
            def train_step(self, *arguments):
                return super().train_step(*arguments)

        ends = keras.Input((FEATURES,))
        model = Own(ends, layers.Dense(3, "softmax")(ends))
        with pytest.raises(ValueError, match="they are probabilities"):
            fit(model, csdl.SOSRLoss(C))

    def test_models_that_say_what_they_output(self):
        class Costs(Subclassed):
            output_kind = "cost"

        logs = fit(Costs(3, "softmax"), csdl.SOSRLoss(C), [csdl.AverageCost(C)])
        assert np.isfinite(logs["loss"] + logs["average_cost"]).all()


class TestKerasOwnLossesAndMetrics(TestCase):
    """Where only a layer, or one of several metrics, is the package's."""

    @pytest.mark.parametrize(
        "loss", ["sparse_categorical_crossentropy", keras.losses.CategoricalHinge(), "kld"]
    )
    def test_costs_trained_as_scores(self, loss):
        y = LABELS if str(loss).startswith("sparse") else np.eye(3)[LABELS]
        for end in ([csdl.CostOutput(3)], [layers.Dense(3, "softmax"), csdl.BayesDecision(C)]):
            with pytest.raises(ValueError, match="Expected a loss of costs"):
                fit(functional(end), loss, y=y)

    @pytest.mark.parametrize(
        "metric",
        [
            "accuracy",
            "acc",
            "sparse_categorical_accuracy",
            keras.metrics.SparseTopKCategoricalAccuracy(k=2),
            keras.metrics.sparse_categorical_accuracy,
        ],
    )
    @pytest.mark.parametrize("weighted", [False, True])
    def test_accuracy_of_costs(self, metric, weighted):
        for end in (csdl.CostOutput(3), layers.Dense(3)):
            model = functional([end])
            metrics = {"weighted_metrics" if weighted else "metrics": [metric]}
            model.compile("sgd", csdl.SOSRLoss(C), **metrics)
            with pytest.raises(ValueError, match="the costliest decision as the model's"):
                model.fit(X, LABELS, verbose=0)

    @pytest.mark.parametrize("given", [list, tuple, lambda loss: {"end": loss[0]}])
    def test_loss_in_a_list_or_dict(self, given):
        loss = given(["sparse_categorical_crossentropy"])
        model = functional([csdl.CostOutput(3, name="end")])
        with pytest.raises(ValueError, match="Expected a loss of costs"):
            fit(model, loss)
        with pytest.raises(ValueError, match="Expected a loss of costs"):
            csdl.decide(model, X)
        classifier = functional([layers.Dense(3, name="end")])
        fit(classifier, loss)
        with pytest.raises(ValueError, match="Expected a loss of costs"):
            csdl.decide(classifier, X, output="cost")
        logs = fit(model, given([csdl.SOSRLoss(C)]), [csdl.AverageCost(C)])
        assert np.isfinite(logs["loss"] + logs["average_cost"]).all()

    @pytest.mark.parametrize("named", [False, True])
    @pytest.mark.parametrize(
        ("loss", "metrics", "match"),
        [
            ("sparse_categorical_crossentropy", [], "Expected a loss of costs"),
            (csdl.SOSRLoss(C), ["accuracy"], "the costliest decision as the model's"),
            (csdl.SOSRLoss(C), ["mae"], None),
        ],
    )
    def test_costs_beside_another_output(self, named, loss, metrics, match):
        """Beside a classifier, whose loss and metrics are its own."""
        start = keras.Input((FEATURES,))
        classes = layers.Dense(3, "softmax", name="a_class")(start)
        ends = {"a_class": classes, "cost": csdl.CostOutput(3, name="cost")(start)}
        compiled = {
            "loss": {"cost": loss, "a_class": "sparse_categorical_crossentropy"},
            "metrics": {"cost": metrics, "a_class": ["accuracy"]},
        }
        y = {"a_class": LABELS, "cost": LABELS}
        if metrics == ["mae"]:
            compiled["loss"]["cost"], y["cost"] = csdl.SOSRLoss(), C[LABELS]
        if not named:
            ends, y = list(ends.values()), list(y.values())
            compiled = {name: [one["a_class"], one["cost"]] for name, one in compiled.items()}
        model = keras.Model(start, ends)
        model.compile("sgd", **compiled)
        if match is None:
            assert np.isfinite(model.fit(X, y, verbose=0).history["loss"]).all()
        else:
            with pytest.raises(ValueError, match=match):
                model.fit(X, y, verbose=0)

    def test_compiled_again(self):
        """That costs were checked with one loss says nothing of the next."""
        model = functional([csdl.CostOutput(3)])
        fit(model, csdl.SOSRLoss(C), [csdl.AverageCost(C)])
        with pytest.raises(ValueError, match="the costliest decision as the model's"):
            fit(model, csdl.SOSRLoss(C), ["accuracy"])
        with pytest.raises(ValueError, match="Expected a loss of costs"):
            fit(model, "sparse_categorical_crossentropy")

    def test_one_loss_for_several_outputs(self):
        start = keras.Input((FEATURES,))
        model = keras.Model(start, [csdl.CostOutput(3)(start), layers.Dense(3)(start)])
        model.compile("sgd", "sparse_categorical_crossentropy")
        with pytest.raises(ValueError, match="Expected a loss of costs"):
            model.fit(X, [LABELS, LABELS], verbose=0)

    @pytest.mark.parametrize("name", ["AUC", "Precision", "bce", "CategoricalAccuracy"])
    def test_metrics_by_their_class_or_abbreviation(self, name):
        with pytest.raises(ValueError, match="the costliest decision as the model's"):
            fit(functional([csdl.CostOutput(3)]), csdl.SOSRLoss(), [name], C[LABELS])

    def test_names_of_metrics_do_not_matter(self):
        def accuracy(y_true, y_pred):
            return keras.ops.argmin(y_true, axis=-1) == keras.ops.argmin(y_pred, axis=-1)

        model = functional([csdl.CostOutput(3)])
        model.kept = keras.metrics.Accuracy(name="kept")  # for a step of the user's own
        for metric in (csdl.DecisionAccuracy(name="accuracy"), accuracy):
            logs = fit(model, csdl.SOSRLoss(), [metric], C[LABELS], validation_data=(X, C[LABELS]))
            right = C[LABELS].argmin(1) == csdl.decide(model, X)
            self.assertAllClose(logs["val_accuracy"][-1], right.mean())

    def test_accuracy_of_a_classifier_stays(self):
        model = functional([layers.Dense(3, "softmax")])
        metrics = ["accuracy", csdl.AverageCost(C), csdl.DecisionAccuracy()]
        logs = fit(model, "sparse_categorical_crossentropy", metrics)
        self.assertAllClose(logs["accuracy"], logs["decision_accuracy"])

    def test_other_metrics_of_costs_stay(self):
        model = functional([csdl.CostOutput(3)])
        assert "mean_absolute_error" in fit(
            model, csdl.SOSRLoss(), ["mean_absolute_error"], C[LABELS]
        )

    def test_class_weight(self):
        weights = {0: 1.0, 1: 2.0, 2: 3.0}
        model = functional([csdl.CostOutput(3)])
        for loss, metrics in ((csdl.SOSRLoss(), []), ("mse", [csdl.AverageCost()])):
            model.compile("sgd", loss, metrics=metrics)
            model.fit(X, C[LABELS], verbose=0)  # what was compiled without may not hide it
            trained = model.get_weights()
            with pytest.raises(ValueError, match="Expected no `class_weight`"):
                model.fit(X, C[LABELS], class_weight=weights, verbose=0)
            # On PyTorch, metrics see outputs after the weights have changed.
            exact = loss != "mse" or keras.backend.backend() != "torch"
            for one, other in zip(model.get_weights(), trained, strict=True):
                self.assertAllClose(one, other, rtol=1e-5 if exact else 1.0)
        with pytest.raises(ValueError, match="Expected no `class_weight`"):
            model.train_on_batch(X, C[LABELS], class_weight=weights)
        fit(model, csdl.SOSRLoss(C), [csdl.AverageCost(C)], class_weight=weights)


class TestEager(TestCase):
    @pytest.mark.parametrize("make", METRICS)
    def test_another_model_after_a_reset(self, make):
        """A metric that has seen costs does not take the next model's probabilities for them."""
        metric = make(C)
        labels, costs, p = map(keras.ops.convert_to_tensor, (LABELS, C[LABELS], P))
        metric.update_state(labels, costs)
        metric.reset_state()
        with pytest.raises(ValueError, match="rows that sum to 1"):
            metric.update_state(labels, p)

    @pytest.mark.parametrize("tensor", [np.asarray, keras.ops.convert_to_tensor])
    @pytest.mark.parametrize("make", METRICS)
    def test_metrics(self, make, tensor):
        with pytest.raises(ValueError, match="which are probabilities"):
            make(C).update_state(LABELS, tensor(P))
        with pytest.raises(ValueError, match="which are probabilities"):
            make(C, output="cost").update_state(LABELS, tensor(P))
        with pytest.raises(ValueError, match="logits are neither"):
            make(C, output="probability").update_state(LABELS, tensor(np.log(P)))
        with pytest.raises(ValueError, match="one column"):
            make(TWO).update_state(LABELS % 2, tensor(P[:, :1]))
        with pytest.raises(ValueError, match="rows of numbers in"):
            make(TWO, output="probability").update_state(LABELS % 2, tensor(3 * P[:, :1] - 1))
        metric = make(TWO, output="probability")
        metric.update_state(LABELS % 2, tensor(P[:, :1]))
        assert np.isfinite(float(metric.result()))

    @pytest.mark.parametrize("make", METRICS)
    def test_nothing_is_added_then(self, make):
        metric, twin = make(C), make(C)
        for one in (metric, twin):
            one.update_state(LABELS, C[LABELS])
        with pytest.raises(ValueError, match="which are probabilities"):
            metric.update_state(LABELS, P)
        self.assertAllClose(metric.result(), twin.result())

    @pytest.mark.parametrize("tensor", [np.asarray, keras.ops.convert_to_tensor])
    @pytest.mark.parametrize("make", LOSSES)
    def test_losses(self, make, tensor):
        for loss, y in ((make(C), LABELS), (make(), C[LABELS])):
            with pytest.raises(ValueError, match="rows that sum to 1"):
                loss(y, tensor(P))
            assert np.isfinite(float(loss(y, tensor(2 * P))))

    def test_expected_cost(self):
        with pytest.raises(ValueError, match="which are probabilities"):
            csdl.losses.expected_cost(None, P)

    def test_in_a_function_of_ones_own(self):
        """Nothing can raise in a compiled function, so what comes out is NaN."""
        if keras.backend.backend() == "torch":
            pytest.skip("PyTorch's tensors have values")
        loss = csdl.SOSRLoss(C)
        if keras.backend.backend() == "jax":
            import jax

            run = jax.jit(lambda p: loss(LABELS, p))
        else:
            import tensorflow as tf

            run = tf.function(lambda p: loss(LABELS, p))
        assert np.isnan(float(run(keras.ops.convert_to_tensor(P))))
        assert np.isfinite(float(run(keras.ops.convert_to_tensor(2 * P))))


class TestEverywhereElse:
    @pytest.mark.parametrize(
        "take",
        [
            lambda model, output: csdl.decide(model, X, output=output),
            csdl.decision_model,
            csdl.models.serving_model,
            lambda model, output: csdl.models.ensemble([model], output),
            lambda model, output: csdl.export(model, "unwritten.onnx", "onnx", output=output),
        ],
        ids=["decide", "decision_model", "serving_model", "ensemble", "export"],
    )
    def test_outputs_that_are_said_to_be_others(self, take):
        for end, output in (
            (layers.Dense(3, "softmax"), "cost"),
            (csdl.CostOutput(3), "probability"),
            (layers.Dense(3), "probability"),
            (layers.Dense(3, "log_softmax"), "cost"),
            (Subclassed(3, "softmax"), "cost"),
        ):
            with pytest.raises(ValueError, match="Expected"):
                take(functional([end]), output)

    @pytest.mark.parametrize(
        ("end", "loss"),
        [
            (lambda: layers.Dense(3, "softmax"), csdl.SOSRLoss()),
            (lambda: csdl.CostOutput(3), "sparse_categorical_crossentropy"),
            (lambda: layers.Dense(3), keras.losses.SparseCategoricalCrossentropy(from_logits=True)),
        ],
        ids=["softmax", "costs", "logits"],
    )
    def test_networks_of_an_estimator(self, end, loss):
        from csdl_keras.sklearn import CostSensitiveClassifier

        def build(input_shape, num_classes):
            model = functional([end()])
            model.compile("sgd", loss)
            return model

        estimator = CostSensitiveClassifier(build, cost_matrix=C)
        with pytest.raises(ValueError, match="Expected"):
            estimator.fit(np.repeat(X, 3, axis=0), np.repeat(LABELS, 3))
