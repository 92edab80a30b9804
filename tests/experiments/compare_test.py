import dataclasses
import io

import keras
import numpy as np
import pytest
from csdl_keras.training.trainer import Trainer
from rich.console import Console

import csdl_keras as csdl
from csdl_keras.experiments.cell import Outcome
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.comparison import ComparisonRun, check_algorithms
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.display import CellDisplay
from csdl_keras.training.algorithms import ALGORITHMS
from csdl_keras_cli.choices import DEFAULT_ALGORITHMS
from tests.experiments.grid_runs import Recorder

SOURCE = DataSource("digits", train_size=229, seed=3, costs_of_all=False)
DATA = SOURCE.load()  # 200 for training
SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (16,)}).limit_epochs(2)
NAMES = ["dnn_blind", "dnn_sosr"]


def make_comparison(folder, names=NAMES, matrices=2, runner=None):
    runner = runner or CellRunner(csdl.StageCache())
    return ComparisonRun(SOURCE, names, matrices, folder, SETTINGS, runner, seed=3)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished comparison, and the cells that it told of."""
    comparison, watcher = make_comparison(tmp_path_factory.mktemp("run")), Recorder()
    assert not comparison.run(watcher)
    return comparison, watcher.ran


class TestComparison:
    def test_order_and_files(self, run):
        comparison, told = run
        expected = [(name, number) for number in (1, 2) for name in NAMES]
        assert [(row.algorithm, row.cost_seed - 999) for row in comparison.results] == expected
        assert len(told) == 4 and set(told) == set(comparison.cells)
        names = {path.name for path in comparison.folder.iterdir()}
        assert names == {"results.csv", "best_model.keras"}
        assert len((comparison.folder / "results.csv").read_text().splitlines()) == 1 + 4

    def test_results_are_those_of_a_trainer(self, run):
        trainer = Trainer(DATA.x_train, DATA.y_train, (DATA.x_val, DATA.y_val), SETTINGS, seed=3)
        for row in run[0].results[1:3]:
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

    @pytest.mark.slow
    def test_two_processes_come_to_the_same(self, run, tmp_path):
        """The same but for rounding, since processes split their work otherwise."""
        runner = CellRunner(csdl.StageCache(), 2)
        display = CellDisplay(Console(file=io.StringIO()), runner)
        comparison = make_comparison(tmp_path, runner=runner)
        assert not comparison.run(display)
        assert display.done == display.total == 1 + 2  # blind, SOSR twice
        for row, twin in zip(run[0].results, comparison.results, strict=True):
            assert (twin.algorithm, twin.cost_seed) == (row.algorithm, row.cost_seed)
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


@pytest.mark.parametrize("best", [0, 1, 2])
def test_the_best_model_is_that_of_the_lowest_validation_cost(tmp_path, best):
    matrix = csdl.costs.randomized_proportional(DATA.y_train_val, seed=1000)
    lowest, *decisions = np.argsort(matrix[DATA.y_val].mean(axis=0))[:3]
    decisions.insert(best, lowest)

    class Made(CellRunner):
        """Constant models instead of trained ones."""

        def run(self, cells):
            for cell, decision in zip(cells, decisions, strict=True):
                decided = [np.full(len(y), decision) for y in (DATA.y_val, DATA.y_test)]
                yield Outcome(cell, *decided, 1, 1.0), constant_model(decision)

    names = ["dnn_blind", "dnn_bayes", "dnn_sosr"]
    comparison = make_comparison(tmp_path, names, 1, Made(csdl.StageCache()))
    comparison.run(Recorder())
    expected = matrix[DATA.y_val].mean(axis=0)[decisions]
    np.testing.assert_allclose([row.validation_cost for row in comparison.results], expected)
    model = keras.saving.load_model(comparison.model_path)
    assert set(csdl.decide(model, DATA.x_test)) == {lowest}


@pytest.mark.parametrize("reverse", [False, True])
def test_the_best_model_over_matrices_of_different_costs(tmp_path, reverse):
    """The dearer matrix has the models that are better than deciding always the same."""
    matrices = {
        i: csdl.costs.randomized_proportional(DATA.y_train_val, seed=i) for i in (1000, 1001)
    }
    means = {seed: matrix[DATA.y_val].mean(axis=0) for seed, matrix in matrices.items()}
    dear = max(means, key=lambda seed: means[seed].min())

    class Made(CellRunner):
        """Decisions that no network made."""

        def run(self, cells):
            for cell in reversed(cells) if reverse else cells:
                decided = np.full(len(DATA.y_val), means[cell.cost_seed].argmin())
                if cell.cost_seed == dear and cell.algorithm.name != "dnn_blind":
                    decided[:3] = DATA.y_val[:3]
                yield Outcome(cell, decided, DATA.y_test, 1, 1.0), constant_model(0)

    names = ["dnn_blind", "dnn_bayes", "dnn_sosr"]
    comparison = make_comparison(tmp_path, names, 2, Made(csdl.StageCache()))
    assert not comparison.run(Recorder())
    assert min(comparison.results, key=lambda row: row.validation_cost).cost_seed != dear
    assert (comparison.best.algorithm, comparison.best.cost_seed) == ("dnn_bayes", dear)


def test_an_algorithm_that_diverges_has_no_result(tmp_path):
    comparison = make_comparison(tmp_path, ["cnn_sosr", "dnn_sosr"], 1)
    wrong = SETTINGS.replace({"cnn.learning_rate": 1e30})
    comparison.cells[0] = dataclasses.replace(comparison.cells[0], settings=wrong)
    [line] = comparison.run(Recorder()).lines()
    assert line.startswith("digits cnn_sosr for matrix 1000 failed: DivergedError: ")
    assert [row.algorithm for row in comparison.results] == ["dnn_sosr"]


class TestCheckAlgorithms:
    def test_names(self):
        assert check_algorithms(DEFAULT_ALGORITHMS) == DEFAULT_ALGORITHMS
        assert DEFAULT_ALGORITHMS[:3] == ("ensemble_bayes", "calibrated_bayes", "cost_model")
        assert check_algorithms(["csdnn", "dnn_sosr", "csdnn"]) == ("csdnn", "dnn_sosr")

    @pytest.mark.parametrize("names", [["csdnn", "dnn"], []])
    def test_wrong_names(self, names):
        with pytest.raises(ValueError) as caught:
            check_algorithms(names)
        assert all(name in str(caught.value) for name in ALGORITHMS)
        assert "'csdnn'" not in str(caught.value)
