"""Many classes: what is saved of cost matrices, and that nothing grows with them in JSON."""

import functools
import pathlib
import resource
import zipfile
from collections.abc import Callable, Iterable
from typing import Any

import keras
import numpy as np
import pytest

from csdl_keras import SOSRLoss
from csdl_keras.losses import LogisticCostLoss, MINLoss, OneSidedLoss, PoissonCostLoss
from csdl_keras.metrics import AverageCost, NormalizedCost, Savings
from csdl_keras.models import auxiliary_costs, bayes_classifier, expected_cost_model, mlp
from tests.support.fresh_process import run_python
from tests.support.testing import TestCase

LOSSES = (SOSRLoss, OneSidedLoss, MINLoss, PoissonCostLoss, LogisticCostLoss)
METRICS = (AverageCost, NormalizedCost, Savings)
MATRICES = ("bayes", "low_rank")  # models that have the matrix in a weight
MANY = ("SOSRLoss", *MATRICES, "auxiliary")
X = np.random.default_rng(0).uniform(size=(6, 4)).astype("float32")

LOADER = """
import pathlib, csdl_keras, keras, numpy as np
from tests.losses.large_matrix_test import X, outputs_of

for path in sorted(pathlib.Path({folder!r}).glob("*.keras")):
    model = keras.saving.load_model(path)
    outputs = outputs_of(model)
    try:
        model.fit(X, np.zeros(len(X), "int32"), verbose=0)
    except ValueError as error:
        outputs["error"] = str(error)
    np.savez(path.with_suffix(".npz"), **outputs)
"""


def matrix_of(classes: int) -> np.ndarray:
    matrix = np.random.default_rng(1).random((classes, classes), dtype="float32")
    np.fill_diagonal(matrix, 0.0)
    return matrix


def labels_of(classes: int) -> np.ndarray:
    return np.random.default_rng(2).integers(classes, size=len(X))


def outputs_of(model: keras.Model) -> dict[str, np.ndarray]:
    outputs = model.predict(X[:1], verbose=0)
    return outputs if isinstance(outputs, dict) else {"only": outputs}


def compiled(make: Callable[..., keras.losses.Loss], matrix: np.ndarray) -> keras.Model:
    classes = len(matrix)
    model = mlp((4,), classes, (3,), output="probability" if make is MINLoss else "cost")
    model.compile("sgd", loss=make(matrix), metrics=[metric(matrix) for metric in METRICS])
    model.train_on_batch(X, labels_of(classes))
    return model


def low_rank(matrix: np.ndarray) -> keras.Model:
    inputs = keras.Input((4,))
    body = keras.Model(inputs, keras.layers.Dense(3, "tanh")(inputs))
    return expected_cost_model(body, matrix, rank=2)


MODELS: dict[str, Callable[[np.ndarray], keras.Model]] = {
    **{make.__name__: functools.partial(compiled, make) for make in LOSSES},
    "bayes": lambda matrix: bayes_classifier(mlp((4,), len(matrix), (3,)), matrix),
    "low_rank": low_rank,
    "auxiliary": lambda matrix: auxiliary_costs(
        mlp((4,), len(matrix), (3, 3), output="cost"), len(matrix)
    ),
}


def save_all(
    folder: pathlib.Path, classes: int, names: Iterable[str] = tuple(MODELS)
) -> dict[str, dict[str, Any]]:
    """Saves a model after the other; what they predict."""
    matrix, outputs = matrix_of(classes), {}
    for name in names:
        model = MODELS[name](matrix)
        outputs[name] = outputs_of(model)
        model.save(folder / f"{name}.keras")
    return outputs


def file_sizes(path: pathlib.Path) -> tuple[int, int]:
    """Of the configuration in a file, and of the file."""
    with zipfile.ZipFile(path) as archive:
        return archive.getinfo("config.json").file_size, path.stat().st_size


def save_many(folder: pathlib.Path, classes: int) -> None:
    """Saves, loads and prints the gigabytes that took."""
    outputs = save_all(folder, classes, MANY)
    for name, expected in outputs.items():
        found = outputs_of(keras.saving.load_model(folder / f"{name}.keras"))
        for key in expected:
            np.testing.assert_allclose(found[key], expected[key], rtol=1e-4, atol=1e-5)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


@pytest.mark.parametrize("make", LOSSES + METRICS)
class TestConfigs(TestCase):
    def test_holds_matrices_of_128_classes(self, make):
        matrix = matrix_of(128)
        twin = self.run_config_round_trip(make(matrix))
        np.testing.assert_array_equal(twin.cost_matrix, matrix)

    def test_holds_the_shape_of_larger_ones(self, make):
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


class TestManyClasses(TestCase):
    def test_1000(self, tmp_path):
        expected = save_all(tmp_path, 1000)
        run_python(LOADER.format(folder=str(tmp_path)))
        for name, outputs in expected.items():
            config, whole = file_sizes(tmp_path / f"{name}.keras")
            assert config < 15_000, name
            # A matrix takes 4 bytes an entry, once.
            assert whole < (4.2e6 if name in MATRICES else 5e5), name
            found = np.load(tmp_path / f"{name}.npz")
            for key, value in outputs.items():
                self.assertAllClose(found[key], value)
            is_compiled = name not in (*MATRICES, "auxiliary")
            assert ("compile it again" in str(found["error"])) == is_compiled, name

    def test_trains_once_it_is_compiled_again(self, tmp_path):
        matrix, labels = matrix_of(200), labels_of(200)
        model = compiled(SOSRLoss, matrix)
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        with pytest.raises(ValueError, match="compile it again"):
            loaded.evaluate(X, labels, verbose=0)
        for one in (model, loaded):
            one.compile("sgd", loss=SOSRLoss(matrix), metrics=[AverageCost(matrix)])
            one.fit(X, labels, shuffle=False, verbose=0)
        for weight, other in zip(model.get_weights(), loaded.get_weights(), strict=True):
            self.assertAllClose(weight, other)

    @pytest.mark.slow
    def test_10000(self, tmp_path):
        """A matrix is 400 MB; as a constant of a compiled function it once took 14 GB."""
        code = "import pathlib; from tests.losses.large_matrix_test import save_many; "
        printed = run_python(f"{code}save_many(pathlib.Path({str(tmp_path)!r}), 10_000)")
        assert float(printed.splitlines()[-1]) < 9.0
        for name in MANY:
            config, whole = file_sizes(tmp_path / f"{name}.keras")
            assert config < 15_000, name
            assert whole < (4.1e8 if name in MATRICES else 5e6), name
