"""Many classes: what is saved of cost matrices, and that nothing grows with them in JSON."""

import zipfile

import keras
import numpy as np
import pytest

from csdl_keras import SOSRLoss
from csdl_keras.losses import MINLoss
from csdl_keras.metrics import AverageCost, Savings
from csdl_keras.models import bayes_classifier, expected_cost_model, mlp
from tests.support.testing import TestCase

X = np.random.default_rng(0).uniform(size=(6, 4)).astype("float32")


def matrix_of(classes: int) -> np.ndarray:
    matrix = np.random.default_rng(1).random((classes, classes), dtype="float32")
    np.fill_diagonal(matrix, 0.0)
    return matrix


def labels_of(classes: int) -> np.ndarray:
    return np.random.default_rng(2).integers(classes, size=len(X))


def compiled(matrix: np.ndarray) -> keras.Model:
    model = mlp((4,), len(matrix), (3,), output="cost")
    model.compile("sgd", loss=SOSRLoss(matrix), metrics=[AverageCost(matrix), Savings(matrix)])
    model.train_on_batch(X, labels_of(len(matrix)))
    return model


MODELS = {
    "compiled": compiled,
    "bayes": lambda matrix: bayes_classifier(mlp((4,), len(matrix), (3,)), matrix),
    "low_rank": lambda matrix: expected_cost_model(
        keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "tanh")]), matrix, rank=2
    ),
}


@pytest.mark.parametrize("make", [SOSRLoss, MINLoss, AverageCost, Savings])
class TestConfigs(TestCase):
    def test_hold_matrices_of_128_classes_and_the_shape_of_larger_ones(self, make):
        twin = self.run_config_round_trip(make(matrix_of(128)))
        np.testing.assert_array_equal(twin.cost_matrix, matrix_of(128))
        whole, labels = make(matrix_of(129)), labels_of(129)
        outputs = np.random.default_rng(3).uniform(size=(len(X), 129)).astype("float32")
        assert whole.get_config()["cost_matrix"] == {"shape": [129, 129]}
        assert np.isfinite(float(whole(labels, outputs)))
        twin = self.run_config_round_trip(whole)
        assert twin.cost_matrix.shape == (129, 129)
        with pytest.raises(ValueError, match=r"\(129, 129\).*again with") as error:
            twin(labels, outputs)
        assert f"{make.__name__}(cost_matrix=...)" in str(error.value)


@pytest.mark.parametrize("name", MODELS)
def test_1000_classes(tmp_path, name, run_eagerly):
    """A model with a matrix is saved in a small file, and predicts after it is loaded."""
    path = tmp_path / "model.keras"
    model = MODELS[name](matrix_of(1000))
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("config.json").file_size < 15_000
    # A matrix takes 4 bytes an entry, once, in a weight.
    assert path.stat().st_size < (5e5 if name == "compiled" else 4.2e6)
    loaded = keras.saving.load_model(path)
    TestCase().assertAllClose(*(one.predict(X[:1], verbose=0) for one in (loaded, model)))
    if name == "compiled":
        with pytest.raises(ValueError, match="compile it again"):
            loaded.fit(X, labels_of(1000), verbose=0)
