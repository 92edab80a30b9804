import keras
import numpy as np
import pytest
from keras import layers, ops

from csdl_keras import BayesDecision, CostOutput, output_kind
from csdl_keras.layers import ClassProbabilities
from tests.support.small_models import Subclassed, Twice, functional, nested

MATRIX = 1 - np.eye(3)

# The last layers of models whose kind is clear. Each function makes new layers.
CLEAR = {
    "CostOutput": (lambda: [CostOutput(3)], "cost"),
    "BayesDecision": (lambda: [layers.Dense(3, "softmax"), BayesDecision(MATRIX)], "cost"),
    "Dense softmax": (lambda: [layers.Dense(3, "softmax")], "probability"),
    "Activation": (lambda: [layers.Dense(3), layers.Activation("softmax")], "probability"),
    "Softmax": (lambda: [layers.Dense(3), layers.Softmax()], "probability"),
    "one sigmoid": (lambda: [layers.Dense(1, "sigmoid")], "probability"),
    "ClassProbabilities": (
        lambda: [layers.Dense(3), ClassProbabilities(from_logits=True)],
        "probability",
    ),
    "ops.softmax": (lambda: [layers.Dense(3), ops.softmax], "probability"),
    "ops.sigmoid": (lambda: [layers.Dense(1), ops.sigmoid], "probability"),
}
# Others, with the values of `output` that they accept; structure and values refuse the rest.
UNCLEAR = {
    "linear": (lambda: [layers.Dense(3)], ("cost",)),
    "three sigmoids": (lambda: [layers.Dense(3, "sigmoid")], ("cost",)),
    "log_softmax": (lambda: [layers.Dense(3, "log_softmax")], ()),
    "softmax over the batch": (lambda: [layers.Dense(3), layers.Softmax(axis=0)], ("cost",)),
    "Dropout": (lambda: [layers.Dense(3, "softmax"), layers.Dropout(0.5)], ("probability",)),
    "unknown layer": (lambda: [CostOutput(3), Twice()], ("cost", "probability")),
    "custom activation": (lambda: [layers.Dense(3, activation=abs)], ("cost", "probability")),
    "ops.negative": (lambda: [CostOutput(3), ops.negative], ("cost", "probability")),
}


def builders(name):
    """Operations are not layers, so only functional models can have them."""
    return [functional] if name.startswith("ops.") else [functional, nested]


@pytest.mark.parametrize("ending", CLEAR)
def test_clear(ending):
    make, kind = CLEAR[ending]
    (other,) = {"cost", "probability"} - {kind}
    for build in builders(ending):
        model = build(make())
        assert output_kind(model) == output_kind(model, kind) == kind
        with pytest.raises(ValueError, match=f"output='{other}' contradicts .* ends in"):
            output_kind(model, other)


@pytest.mark.parametrize("ending", UNCLEAR)
def test_unclear(ending):
    make, possible = UNCLEAR[ending]
    for build in builders(ending):
        model = build(make())
        with pytest.raises(ValueError, match="output='cost' or output='probability'"):
            output_kind(model)
        for output in ("cost", "probability"):
            if output in possible:
                assert output_kind(model, output) == output
            else:
                with pytest.raises(ValueError, match="contradicts|sum to 1"):
                    output_kind(model, output)


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
    with pytest.raises(ValueError, match="ends in .*, which does not show .* Pass output='cost'"):
        output_kind(make())
    assert output_kind(make(), "probability") == "probability"


def test_values_and_losses_are_checked():
    with pytest.raises(ValueError, match="sum to 1.*so they are probabilities"):
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
