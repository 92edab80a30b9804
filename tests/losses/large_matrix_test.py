"""Many classes: what is saved of cost matrices, and that nothing grows with them in JSON."""

import pathlib
import zipfile
from collections.abc import Callable

import keras
import numpy as np
import pytest

from csdl_keras import SOSRLoss
from csdl_keras.losses import MINLoss
from csdl_keras.metrics import AverageCost, Savings
from csdl_keras.models import bayes_classifier, expected_cost_model, mlp
from tests.support.testing import TestCase

LOSSES, METRICS = (SOSRLoss, MINLoss), (AverageCost, Savings)
MATRICES = ("bayes", "low_rank")  # Models that have the matrix in a weight.
X = np.random.default_rng(0).uniform(size=(6, 4)).astype("float32")


def matrix_of(classes: int) -> np.ndarray:
    matrix = np.random.default_rng(1).random((classes, classes), dtype="float32")
    np.fill_diagonal(matrix, 0.0)
    return matrix


def labels_of(classes: int) -> np.ndarray:
    return np.random.default_rng(2).integers(classes, size=len(X))


def compiled(matrix: np.ndarray) -> keras.Model:
    classes = len(matrix)
    model = mlp((4,), classes, (3,), output="cost")
    model.compile("sgd", loss=SOSRLoss(matrix), metrics=[metric(matrix) for metric in METRICS])
    model.train_on_batch(X, labels_of(classes))
    return model


def low_rank(matrix: np.ndarray) -> keras.Model:
    inputs = keras.Input((4,))
    body = keras.Model(inputs, keras.layers.Dense(3, "tanh")(inputs))
    return expected_cost_model(body, matrix, rank=2)


MODELS: dict[str, Callable[[np.ndarray], keras.Model]] = {
    "compiled": compiled,
    "bayes": lambda matrix: bayes_classifier(mlp((4,), len(matrix), (3,)), matrix),
    "low_rank": low_rank,
}


def check_saved(folder: pathlib.Path, classes: int, name: str) -> None:
    """A model with a matrix is saved in a small file, and predicts after it is loaded."""
    path = folder / f"{name}.keras"
    model = MODELS[name](matrix_of(classes))
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("config.json").file_size < 15_000
    # A matrix takes 4 bytes an entry, once.
    assert path.stat().st_size < (4.2 * classes**2 if name in MATRICES else 500 * classes)
    loaded = keras.saving.load_model(path)
    TestCase().assertAllClose(*(one.predict(X[:1], verbose=0) for one in (loaded, model)))
    if name == "compiled":
        with pytest.raises(ValueError, match="compile it again"):
            loaded.fit(X, labels_of(classes), verbose=0)


@pytest.mark.parametrize("make", LOSSES + METRICS)
class TestConfigs(TestCase):
    def test_holds_matrices_of_128_classes_and_the_shape_of_larger_ones(self, make):
        twin = self.run_config_round_trip(make(matrix_of(128)))
        np.testing.assert_array_equal(twin.cost_matrix, matrix_of(128))
        matrix, labels = matrix_of(129), labels_of(129)
        outputs = np.random.default_rng(3).uniform(size=(len(X), 129)).astype("float32")
        whole = make(matrix)
        assert whole.get_config()["cost_matrix"] == {"shape": [129, 129]}
        assert np.isfinite(float(whole(labels, outputs)))
        twin = self.run_config_round_trip(whole)
        assert twin.cost_matrix.shape == (129, 129)
        with pytest.raises(ValueError) as error:
            twin(labels, outputs)
        assert f"compile it again with {make.__name__}(cost_matrix=...)" in str(error.value)
        assert "(129, 129)" in str(error.value)


@pytest.mark.parametrize("name", MODELS)
def test_1000_classes(tmp_path, name, run_eagerly):
    check_saved(tmp_path, 1000, name)
