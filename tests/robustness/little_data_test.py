"""Real training on as little as there can be: finite networks, or a documented error."""

import numpy as np
import pandas
import pytest

import csdl_keras as csdl

SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (4,)}).limit_epochs(1)
X = np.array([[0.0, 1.0, 0.5], [1.0, 0.25, 0.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]])
Y = np.array([0, 1, 1, 0])
MATRIX = np.array([[0.0, 1.0], [5.0, 0.0]])
pytestmark = pytest.mark.usefixtures("run_eagerly")


def train(name="dnn_sosr", x=X, y=Y, matrix=MATRIX, **kwargs):
    return csdl.train(name, x, y, matrix, settings=SETTINGS, seed=0, **kwargs)


def assert_finite(model, x=X):
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
    decided = csdl.decide(model, x)
    assert set(decided.tolist()) <= {0, 1} and len(decided) == len(x)


class TestTrain:
    @pytest.mark.parametrize("name", ["csdnn", "dnn_bayes"])
    def test_one_example(self, name):
        assert_finite(train(name, X[:1], Y[:1]))

    def test_one_class_where_there_must_be_two(self):
        with pytest.raises(ValueError, match="^Expected examples of more than one class"):
            train("min", X[:1], Y[:1])

    @pytest.mark.parametrize("size", [1, 3])
    def test_a_kernel_machine(self, size):
        """Examples that are all alike have no variance."""
        machine = train("csosr", np.repeat(X[:1], size, axis=0), Y[:size])
        assert np.isfinite(machine.predict_costs(X)).all()

    def test_a_thousand_classes(self):
        model = train(y=np.array([0, 999, 500, 1]), matrix=csdl.costs.zero_one(1000))
        assert model.output_shape == (None, 1000)
        assert all(np.isfinite(weight).all() for weight in model.get_weights())

    def test_mistakes_that_cost_nothing(self):
        """No example would have a weight."""
        with pytest.raises(ValueError, match="^Expected mistakes on examples to cost something"):
            train("dnn_weighted", X[:1], Y[:1], np.array([[0.0, 0.0], [1.0, 0.0]]))


def test_pretraining_on_one_example():
    model = csdl.models.mlp((3,), 2, (4,), seed=0)
    csdl.pretrain(model, X[:1], MATRIX[:1], beta=0.5, epochs=1, seed=0, verbose=0)
    assert_finite(model)


@pytest.mark.parametrize("method", ["temperature", "bias_corrected"])
def test_calibration_on_one_example(method):
    model = csdl.models.mlp((3,), 2, (4,), seed=0)
    for spread in (None, 1e-6, 1e6):
        frame = pandas.DataFrame(X[:1])
        assert_finite(csdl.calibrate(model, frame, Y[:1], method, spread=spread))
