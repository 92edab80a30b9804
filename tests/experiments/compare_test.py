import io

import keras
import numpy as np
import pytest
from rich.console import Console

import csdl_keras as csdl
from csdl_keras.experiments.compare import DEFAULT_ALGORITHMS, Comparison, check_algorithms
from csdl_keras.experiments.display import Display
from csdl_keras.training.algorithms import ALGORITHMS
from csdl_keras.training.trained import Trained
from csdl_keras.training.trainer import Trainer

DATA = csdl.datasets.load("digits", train_size=229)  # 200 for training
SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (16,)}).limit_epochs(2)
NAMES = ["dnn_blind", "dnn_sosr"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished comparison, its results and what it announced."""
    announced = []
    comparison = Comparison(
        DATA,
        NAMES,
        num_cost_matrices=2,
        folder=tmp_path_factory.mktemp("run"),
        settings=SETTINGS,
        seed=3,
        announce=lambda name, number: announced.append((name, number)),
    )
    return comparison, list(comparison.run()), announced


class TestComparison:
    def test_order(self, run):
        _, results, announced = run
        expected = [(name, number) for number in (1, 2) for name in NAMES]
        assert [(row.algorithm, row.cost_seed - 999) for row in results] == expected == announced

    def test_results_are_those_of_a_trainer(self, run):
        comparison, results, _ = run
        trainer = Trainer(DATA.x_train, DATA.y_train, (DATA.x_val, DATA.y_val), SETTINGS, seed=3)
        for row in results[1:3]:
            matrix = csdl.costs.randomized_proportional(DATA.y_train_val, seed=row.cost_seed)
            model = trainer.train(row.algorithm, matrix).model
            test, val = (csdl.decide(model, x) for x in (DATA.x_test, DATA.x_val))
            assert row.average_cost == pytest.approx(matrix[DATA.y_test, test].mean(), abs=1e-6)
            assert row.validation_cost == pytest.approx(matrix[DATA.y_val, val].mean(), abs=1e-6)
            assert row.error_rate == pytest.approx(np.mean(test != DATA.y_test), abs=1e-6)
            assert (row.dataset, row.imbalanced, row.seed) == ("digits", False, 3)
            assert (row.epochs, row.train_size) == (2, 229)
            assert row.backend == keras.backend.backend()
            assert row.train_seconds > 0

    def test_files(self, run):
        names = {path.name for path in run[0].folder.iterdir()}
        assert names == {"results.csv", "best_model.keras"}
        assert len((run[0].folder / "results.csv").read_text().splitlines()) == 1 + 4


class TestProcesses:
    def test_two_processes_come_to_the_same(self, run, tmp_path):
        """The same but for rounding, since processes split their work otherwise."""
        announced = []
        comparison = Comparison(
            DATA,
            [*NAMES, "sdae_sosr"],
            num_cost_matrices=2,
            folder=tmp_path,
            settings=SETTINGS,
            seed=3,
            callbacks=[Display(Console(file=io.StringIO()), 6, 2, jobs=2).callback()],
            announce=lambda name, number: announced.append(name),
            jobs=2,
        )
        results = list(comparison.run())
        assert announced == []
        found = {(row.algorithm, row.cost_seed): row for row in results}
        assert len(found) == len(results) == 6
        for row in run[1]:
            twin = found[row.algorithm, row.cost_seed]
            assert twin.average_cost == pytest.approx(row.average_cost, rel=0.1)
            assert twin.epochs == row.epochs
        assert comparison.model_path.exists()


def constant_model(decision):
    """A network that decides the same for every image."""
    inputs = keras.Input(DATA.input_shape)
    outputs = csdl.CostOutput(10, kernel_initializer="zeros")
    model = keras.Model(inputs, outputs(keras.layers.Flatten()(inputs)))
    outputs.bias.assign(1.0 - np.eye(10)[decision])
    return model


class TestBestModel:
    @pytest.mark.parametrize("best", [0, 1, 2])
    def test_it_is_that_of_the_lowest_validation_cost(self, tmp_path, monkeypatch, best):
        names = ["dnn_blind", "dnn_bayes", "dnn_sosr"]
        matrix = csdl.costs.randomized_proportional(DATA.y_train_val, seed=1000)
        lowest, *others = np.argsort(matrix[DATA.y_val].mean(axis=0))
        decisions = others[:3]
        decisions[best] = lowest

        def train_all(self, requests, on_error):
            for index, (name, _) in enumerate(requests):
                model = constant_model(decisions[names.index(name)])
                yield index, Trained(model, seconds=1.0, epochs=1)

        monkeypatch.setattr(Trainer, "train_all", train_all)
        comparison = Comparison(DATA, names, 1, tmp_path, SETTINGS)
        results = list(comparison.run())
        expected = matrix[DATA.y_val].mean(axis=0)[decisions]
        np.testing.assert_allclose([row.validation_cost for row in results], expected)
        model = keras.saving.load_model(comparison.model_path)
        assert set(csdl.decide(model, DATA.x_test)) == {lowest}


class TestCheckAlgorithms:
    def test_the_default(self):
        assert check_algorithms(DEFAULT_ALGORITHMS) == DEFAULT_ALGORITHMS
        assert len(DEFAULT_ALGORITHMS) == 12
        best_first = ("ensemble_bayes", "calibrated_bayes", "cost_model")
        assert DEFAULT_ALGORITHMS[:3] == best_first

    def test_repeated_names_count_once(self):
        assert check_algorithms(["csdnn", "dnn_sosr", "csdnn"]) == ("csdnn", "dnn_sosr")

    @pytest.mark.parametrize("names", [["csdnn", "dnn"], []])
    def test_wrong_names(self, names):
        with pytest.raises(ValueError) as caught:
            check_algorithms(names)
        assert all(name in str(caught.value) for name in ALGORITHMS)
        assert "'csdnn'" not in str(caught.value)
