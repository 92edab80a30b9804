import keras
import numpy as np
import pytest
from keras import layers, ops

from csdl_keras import BayesDecision, CostOutput, output_kind
from csdl_keras.layers import ClassProbabilities
from tests.support.small_models import Subclassed, Twice, functional, nested

MATRIX = 1 - np.eye(3)

# The last layers of models, by what they output. Each function makes new layers.
COST = {
    "CostOutput": lambda: [CostOutput(3)],
    "one CostOutput": lambda: [CostOutput(1)],
    "BayesDecision": lambda: [layers.Dense(3, "softmax"), BayesDecision(MATRIX)],
}
PROBABILITY = {
    "Dense softmax": lambda: [layers.Dense(3, "softmax")],
    "Activation": lambda: [layers.Dense(3), layers.Activation("softmax")],
    "Softmax": lambda: [layers.Dense(3), layers.Softmax()],
    "one sigmoid": lambda: [layers.Dense(1, "sigmoid")],
    "ClassProbabilities": lambda: [layers.Dense(3), ClassProbabilities(from_logits=True)],
}
UNCLEAR = {
    "linear": lambda: [layers.Dense(3)],
    "three sigmoids": lambda: [layers.Dense(3, "sigmoid")],
    "log_softmax": lambda: [layers.Dense(3, "log_softmax")],
    "softmax over the batch": lambda: [layers.Dense(3), layers.Softmax(axis=0)],
    "Dropout": lambda: [layers.Dense(3, "softmax"), layers.Dropout(0.5)],
    "unknown layer": lambda: [CostOutput(3), Twice()],
    "custom activation": lambda: [layers.Dense(3, activation=abs)],
}
# The values of `output` that these accept; structure and values refuse the others.
POSSIBLE = {
    "log_softmax": (),
    "Dropout": ("probability",),
    "unknown layer": ("cost", "probability"),
    "custom activation": ("cost", "probability"),
}
# Operations are not layers, so only functional models can have them.
OPERATIONS = {
    "ops.softmax": (lambda: [layers.Dense(3), ops.softmax], "probability"),
    "ops.sigmoid": (lambda: [layers.Dense(1), ops.sigmoid], "probability"),
    "ops.softmax over the batch": (lambda: [layers.Dense(3), lambda x: ops.softmax(x, 0)], None),
    "ops.negative": (lambda: [CostOutput(3), ops.negative], None),
}


SURE = {**dict.fromkeys(COST, "cost"), **dict.fromkeys(PROBABILITY, "probability")}
MAKE = {**COST, **PROBABILITY}


@pytest.mark.parametrize("build", [functional, nested])
class TestEndings:
    @pytest.mark.parametrize("ending", SURE)
    def test_clear(self, build, ending):
        model, kind = build(MAKE[ending]()), SURE[ending]
        assert output_kind(model) == output_kind(model, kind) == kind
        (other,) = {"cost", "probability"} - {kind}
        with pytest.raises(ValueError, match=f"received output='{other}', but it ends in"):
            output_kind(model, other)

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


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name):
    make, expected = OPERATIONS[name]
    model = functional(make())
    if expected:
        assert output_kind(model) == expected
    else:
        with pytest.raises(ValueError, match="output='cost'"):
            output_kind(model)


def two_outputs():
    x = keras.Input((3,))
    return keras.Model(x, [CostOutput(3)(x), CostOutput(3)(x)])


@pytest.mark.parametrize(
    "make",
    [
        lambda: functional([Subclassed(3, "softmax")]),
        lambda: keras.Sequential([layers.Dense(3, "softmax")]),
        two_outputs,
    ],
    ids=["wrapped", "unbuilt", "two outputs"],
)
def test_structure_that_cannot_be_seen(make):
    with pytest.raises(ValueError, match="received '.*', which ends in .* Pass output='cost'"):
        output_kind(make())
    assert output_kind(make(), "probability") == "probability"


def test_values_and_losses_are_checked():
    with pytest.raises(ValueError, match="rows that sum to 1.*probabilities"):
        output_kind(functional([Subclassed(3, "softmax")]), "cost")
    assert output_kind(functional([Subclassed(3)]), "cost") == "cost"
    model = functional([CostOutput(3)])
    for loss in ("sparse_categorical_crossentropy", keras.losses.KLDivergence()):
        model.compile("sgd", loss)
        with pytest.raises(ValueError, match="trains scores of classes"):
            output_kind(model)
    model.compile("sgd", "mse")
    assert output_kind(model) == "cost"
    with pytest.raises(ValueError, match="`output`"):
        output_kind(model, "costs")
