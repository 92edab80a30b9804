"""Decisions in this process, and those of the models that output them."""

import itertools

import keras
import numpy as np
import pytest
from keras import layers

from csdl_keras import decide
from csdl_keras.layers import BayesDecision, CostOutput
from csdl_keras.models import decision_model
from tests.support.small_models import functional, inputs, nested
from tests.support.testing import TestCase, to_numpy

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
X = inputs(30)
MATRIX = [[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]]
ENDINGS = {
    "softmax": (lambda: [layers.Dense(3, "softmax")], np.argmax),
    "cost": (lambda: [CostOutput(3)], np.argmin),
    "bayes": (lambda: [layers.Dense(3, "softmax"), BayesDecision(MATRIX)], np.argmin),
    "sigmoid": (lambda: [layers.Dense(1, "sigmoid")], lambda p, axis: (p > 0.5).sum(axis)),
}
WIDTH = 4
# Every row of zeros and ones, and some of three values.
TIES = np.array(
    list(itertools.product([0, 1], repeat=WIDTH))
    + [[0, 2, 2, 1], [1, -1, 2, -1], [2, 2, -1, -1], [1, 1, 1, 2]],
    "float32",
)


def identity(width: int) -> keras.Model:
    """A model that outputs its inputs, so that the inputs say what the outputs are."""
    x = keras.Input((width,))
    return keras.Model(x, layers.Identity()(x))


IDENTITY = identity(WIDTH)


class TestDecide(TestCase):
    @pytest.mark.parametrize(
        ("build", "ending"), [(functional, it) for it in ENDINGS] + [(nested, "bayes")]
    )
    def test_decides_like_numpy(self, build, ending, capsys):
        make, choose = ENDINGS[ending]
        model = build(make())
        if ending == "bayes":
            model.set_weights([*model.get_weights()[:-1], np.array(MATRIX)])
        expected = choose(model.predict(X, verbose=0), axis=1)
        assert len(set(expected.tolist())) > 1, "a test that every constant would pass"
        decided, by_model = decide(model, X), decision_model(model).predict(X, verbose=0)
        assert (decided.shape, decided.dtype, by_model.dtype) == ((30,), np.int64, np.int32)
        np.testing.assert_array_equal(decided, expected)
        np.testing.assert_array_equal(by_model, expected)
        np.testing.assert_array_equal(decide(model, X, batch_size=7), expected)
        assert capsys.readouterr().out == ""

    @pytest.mark.parametrize("output", ["cost", "probability"])
    def test_lowest_index_wins_ties(self, output):
        rows, choose = TIES, np.argmin
        if output == "probability":
            rows, choose = (rows + 2) / (rows + 2).sum(axis=1, keepdims=True), np.argmax
        expected = choose(rows, axis=1)  # NumPy documents that it returns the first
        np.testing.assert_array_equal(decide(IDENTITY, rows, output=output), expected)
        decided = decision_model(IDENTITY, output).predict(rows, verbose=0)
        np.testing.assert_array_equal(decided, expected)

    def test_nan(self):
        x = X.copy()
        x[4:6, 0] = np.nan
        for ending in ("softmax", "cost", "sigmoid"):
            model = functional(ENDINGS[ending][0]())
            with pytest.raises(ValueError, match="NaN in 2 of 30 rows"):
                decide(model, x)
            decided = to_numpy(decision_model(model)(x))
            assert np.flatnonzero(decided == -1).tolist() == [4, 5]
