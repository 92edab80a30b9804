import keras
import numpy as np
import pytest
from keras import layers, ops

from csdl_keras import CAE, BayesDecision, CostOutput, output_kind
from csdl_keras.layers import ClassProbabilities
from csdl_keras.models import bayes_classifier, caffe_cifar10, mlp
from tests.support.small_models import BUILDERS, Subclassed, Twice, functional, inputs
from tests.support.testing import TestCase

MATRIX = 1 - np.eye(3)

# What a model ends in, and what that says. Each entry makes its layers anew.
COST = {
    "CostOutput": lambda: [CostOutput(3)],
    "one CostOutput": lambda: [CostOutput(1)],
    "BayesDecision": lambda: [layers.Dense(3, "softmax"), BayesDecision(MATRIX)],
}
PROBABILITY = {
    "Dense softmax": lambda: [layers.Dense(3, "softmax")],
    "Dense softmax function": lambda: [layers.Dense(3, keras.activations.softmax)],
    "Activation": lambda: [layers.Dense(3), layers.Activation("softmax")],
    "Softmax": lambda: [layers.Dense(3), layers.Softmax()],
    "one sigmoid": lambda: [layers.Dense(1, "sigmoid")],
    "one Activation": lambda: [layers.Dense(1), layers.Activation("sigmoid")],
    "ClassProbabilities": lambda: [layers.Dense(3), ClassProbabilities(from_logits=True)],
}
UNCLEAR = {
    "linear": lambda: [layers.Dense(3)],
    "one linear": lambda: [layers.Dense(1)],
    "relu": lambda: [layers.Dense(3, "relu")],
    "three sigmoids": lambda: [layers.Dense(3, "sigmoid")],
    "log_softmax": lambda: [layers.Dense(3, "log_softmax")],
    "softmax over the batch": lambda: [layers.Dense(3), layers.Softmax(axis=0)],
    "Dropout": lambda: [layers.Dense(3, "softmax"), layers.Dropout(0.5)],
    "unknown layer": lambda: [CostOutput(3), Twice()],
    "custom activation": lambda: [layers.Dense(3, activation=abs)],
}
# What those may be said to output; structure and values refuse the rest.
POSSIBLE = {
    "log_softmax": (),
    "Dropout": ("probability",),
    "unknown layer": ("cost", "probability"),  # whose inputs, not structure, decide about rows
    "custom activation": ("cost", "probability"),
}
# Operations are no layers: they fit into functional models only.
OPERATIONS = {
    "ops.softmax": (lambda: [layers.Dense(3), ops.softmax], "probability"),
    "activations.softmax": (lambda: [layers.Dense(3), keras.activations.softmax], "probability"),
    "ops.sigmoid": (lambda: [layers.Dense(1), ops.sigmoid], "probability"),
    "ops.softmax over the batch": (lambda: [layers.Dense(3), lambda x: ops.softmax(x, 0)], None),
    "three ops.sigmoid": (lambda: [layers.Dense(3), ops.sigmoid], None),
    "ops.negative": (lambda: [CostOutput(3), ops.negative], None),
}


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
class TestEndings(TestCase):
    @pytest.mark.parametrize("ending", COST)
    def test_costs(self, build, ending):
        assert output_kind(build(COST[ending]())) == "cost"

    @pytest.mark.parametrize("ending", PROBABILITY)
    def test_probabilities(self, build, ending):
        assert output_kind(build(PROBABILITY[ending]())) == "probability"

    @pytest.mark.parametrize("ending", UNCLEAR)
    def test_unclear(self, build, ending):
        model = build(UNCLEAR[ending]())
        with pytest.raises(ValueError, match="output='cost' or output='probability'"):
            output_kind(model)
        for output in ("cost", "probability"):
            if output in POSSIBLE.get(ending, ("cost",)):
                assert output_kind(model, output) == output
            else:
                with pytest.raises(ValueError, match="received"):
                    output_kind(model, output)


class TestOutputKind(TestCase):
    @pytest.mark.parametrize("name", OPERATIONS)
    def test_operations(self, name):
        make, expected = OPERATIONS[name]
        model = functional(make())
        if expected:
            assert output_kind(model) == expected
        else:
            with pytest.raises(ValueError, match="output='cost'"):
                output_kind(model)

    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_networks_of_the_package(self, output):
        assert output_kind(mlp((4,), 3, (5,), output=output)) == output
        assert output_kind(caffe_cifar10((8, 8, 1), 3, output=output)) == output

    def test_bayes_classifier(self):
        assert output_kind(bayes_classifier(mlp((4,), 3, (5,)), MATRIX)) == "cost"

    @pytest.mark.parametrize("name", [*COST, *PROBABILITY])
    def test_same_after_saving(self, name, tmp_path):
        model = BUILDERS["nested"]({**COST, **PROBABILITY}[name]())
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert output_kind(loaded) == ("cost" if name in COST else "probability")

    def test_operation_after_saving(self, tmp_path):
        functional([layers.Dense(3), ops.softmax]).save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert output_kind(loaded) == "probability"

    def test_layer_derived_from_cost_output(self):
        class Scaled(CostOutput):
            pass

        assert output_kind(functional([Scaled(3)])) == "cost"

    def test_sequential_built_by_its_first_call(self):
        model = keras.Sequential([layers.Dense(3, "softmax")])
        model(inputs(2))
        assert output_kind(model) == "probability"

    def test_message_names_model_and_layer(self):
        model = functional([layers.Dense(3, "relu", name="last")], name="odd")
        with pytest.raises(ValueError, match="'odd', which ends in Dense 'last'.*'relu'"):
            output_kind(model)

    def test_two_outputs(self):
        x = keras.Input((3,))
        model = keras.Model(x, [CostOutput(3)(x), CostOutput(3)(x)])
        with pytest.raises(ValueError, match="output='cost'"):
            output_kind(model)

    @pytest.mark.parametrize(
        "make",
        [
            lambda: Subclassed(3, "softmax"),
            lambda: functional([Subclassed(3, "softmax")]),
            lambda: CAE(4, num_decisions=3),
            lambda: keras.Sequential([layers.Dense(3, "softmax")]),
        ],
        ids=["subclassed", "wrapped", "CAE", "unbuilt"],
    )
    def test_structure_that_cannot_be_seen(self, make):
        model = make()
        with pytest.raises(ValueError, match="output='cost'"):
            output_kind(model)
        assert output_kind(model, "probability") == "probability"

    def test_rows_that_sum_to_1_are_no_costs(self):
        with pytest.raises(ValueError, match="rows that sum to 1.*probabilities"):
            output_kind(functional([Subclassed(3, "softmax")]), "cost")
        assert output_kind(functional([Subclassed(3)]), "cost") == "cost"

    @pytest.mark.parametrize(
        ("ending", "output"),
        [(COST[name], "probability") for name in COST] + [(PROBABILITY["Softmax"], "cost")],
    )
    def test_structure_goes_before_what_is_said(self, ending, output):
        with pytest.raises(ValueError, match=f"received output='{output}', but it ends in"):
            output_kind(functional(ending()), output)

    def test_own_layers_and_models_say_it(self):
        class Costs(layers.Dense):
            output_kind = "cost"

        class Whole(Subclassed):
            output_kind = "probability"

        assert output_kind(functional([Costs(3)])) == "cost"
        assert output_kind(Whole(3, "softmax")) == "probability"

    def test_costs_trained_as_scores(self):
        model = functional([CostOutput(3)])
        for loss in ("sparse_categorical_crossentropy", keras.losses.KLDivergence()):
            model.compile("sgd", loss)
            with pytest.raises(ValueError, match="trains scores of classes"):
                output_kind(model)
        model.compile("sgd", "mse")
        assert output_kind(model) == "cost"

    @pytest.mark.parametrize("output", ["costs", "", 0, ["cost"]])
    def test_unknown_output(self, output):
        with pytest.raises(ValueError, match="`output`"):
            output_kind(functional([CostOutput(3)]), output)
