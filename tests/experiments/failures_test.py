"""A part of a run that fails costs no other part, and is told at the end."""

import csv
import importlib

import pytest

import csdl_keras as csdl
from csdl_keras.experiments import cell, files, results
from csdl_keras.experiments.cli import main
from csdl_keras.experiments.failures import Failures
from csdl_keras.training.algorithms import ALGORITHMS
from tests.experiments.compare_test import constant_model
from tests.experiments.grid_runs import train_all_with

TABLE2 = ["table2", "--epochs", "1", "--train-size", "343", "--cost-seeds", "2"]
TABLE2 += ["--algorithms", "dnn_blind,dnn_bayes,sdae_sosr"]
COMPARE = ["compare", "--dataset", "digits", "--train-size", "343", "--epochs", "1"]
COMPARE += ["--algorithms", "dnn_blind,dnn_bayes,dnn_sosr", "--cost-seeds", "1", "--jobs", "1"]
TUNE = ["tune", "--dataset", "digits", "--train-size", "300", "--epochs", "1", "--depth", "1"]
TUNE += ["--units", "8", "--pretraining-epochs", "1", "--max-trials", "1"]


def algorithms(folder, name="results.csv"):
    with (folder / name).open(newline="") as file:
        return [row["algorithm"] for row in csv.DictReader(file)]


def failing(function, when, error):
    """The function, but for calls whose arguments are such that it fails."""

    def call(*arguments, **kwargs):
        if when(*arguments, **kwargs):
            raise error
        return function(*arguments, **kwargs)

    return call


class TestFailures:
    def test_parts_of_the_same_error_share_a_line(self, capsys):
        failures = Failures()
        assert failures.tell() == 0
        for part in ("a", "b", "a"):
            with failures.step(part):
                raise OSError("full")
        with failures.step("c"):
            pass
        assert failures.tell() == 1
        assert capsys.readouterr().err == "csdl-keras: a, b failed: OSError: full\n"

    def test_an_interruption_is_no_failure(self):
        with pytest.raises(KeyboardInterrupt), Failures().step("a"):
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    """The finished stages of `TABLE2`."""
    folder = tmp_path_factory.mktemp("finished")
    assert main([*TABLE2, "--out", str(folder)]) == 0
    return folder / "stages"


class TestTable2:
    OTHERS = ["dnn_blind"] * 2 + ["sdae_sosr"] * 2

    def run(self, folder, stages, capsys, *more):
        status = main([*TABLE2, "--out", str(folder), "--cache", str(stages), *more])
        return status, capsys.readouterr().err

    @pytest.mark.parametrize("step", ["training", "describing", "evaluating"])
    def test_the_others_are_written(self, step, tmp_path, capsys, monkeypatch):
        error = KeyError("auto")
        if step == "training":
            fail = failing(lambda name: None, lambda name: name == "dnn_bayes", error)
            monkeypatch.setattr(csdl.Trainer, "train_all", train_all_with(fail))
        elif step == "describing":
            stages = cell.Cell.stages
            fail = failing(stages, lambda it, *_: it.algorithm.name == "dnn_bayes", error)
            monkeypatch.setattr(cell.Cell, "stages", fail)
        else:
            of = results.GridResult.of
            fail = failing(of, lambda it: it.cell.algorithm.name == "dnn_bayes", error)
            monkeypatch.setattr(results.GridResult, "of", fail)
        status, told = self.run(tmp_path, tmp_path / "stages", capsys)
        assert status == 1
        parts = [f"digits dnn_bayes for matrix {seed}" for seed in (1000, 1001)]
        assert told == f"csdl-keras: {', '.join(parts)} failed: KeyError: 'auto'\n"
        assert algorithms(tmp_path) == self.OTHERS
        monkeypatch.undo()
        # The same command again runs what failed, and that alone.
        others = failing(lambda name: None, lambda name: name != "dnn_bayes", KeyError())
        monkeypatch.setattr(csdl.Trainer, "train_all", train_all_with(others))
        status, told = self.run(tmp_path, tmp_path / "stages", capsys)
        assert (status, told) == (0, "")
        assert algorithms(tmp_path) == ["dnn_blind"] * 2 + ["dnn_bayes"] * 2 + ["sdae_sosr"] * 2

    def test_a_choice_that_fails(self, tmp_path, capsys, monkeypatch):
        fail = failing(results.Choice.of, lambda outcome, *_: True, ValueError("no choice"))
        monkeypatch.setattr(results.Choice, "of", fail)
        arguments = ["--algorithms", "csosr,dnn_blind"]
        status, told = self.run(tmp_path, tmp_path / "stages", capsys, *arguments)
        assert (status, algorithms(tmp_path)) == (1, ["dnn_blind"] * 2)
        assert told == "csdl-keras: digits csosr failed: ValueError: no choice\n"

    def test_each_result_is_written_as_it_comes(self, tmp_path, stages, capsys, monkeypatch):
        """What is there when the third one is about to be written."""
        written = []
        write = files.GridFiles.write_result

        def killed(self, outcome):
            if len(written) == 2:
                raise KeyboardInterrupt
            write(self, outcome)
            written.append(outcome.cell.algorithm.name)

        monkeypatch.setattr(files.GridFiles, "write_result", killed)
        assert self.run(tmp_path, stages, capsys)[0] == 130
        assert algorithms(tmp_path) == written == ["dnn_blind"] * 2

    def test_a_data_set_that_fails(self, tmp_path, stages, capsys, monkeypatch):
        """That is no longer there once the run has begun."""
        from csdl_keras.experiments import data_source

        fail = failing(
            csdl.datasets.imbalance, lambda *_, **__: True, MemoryError("not enough memory")
        )
        monkeypatch.setattr(data_source.datasets, "imbalance", fail)
        data_source._whole.cache_clear()
        arguments = ["--datasets", "digits_imb,digits"]
        status, told = self.run(tmp_path, stages, capsys, *arguments)
        assert status == 1
        assert told == "csdl-keras: digits_imb failed: MemoryError: not enough memory\n"
        assert len(algorithms(tmp_path)) == 6

    def test_unknown_data_sets_are_refused_before_anything_runs(self, tmp_path, stages, capsys):
        folder = tmp_path / "new"
        status, told = self.run(folder, stages, capsys, "--datasets", "digits,no_such_set")
        assert status == 2 and "no_such_set" in told
        assert not folder.exists()


class TestCompare:
    @pytest.fixture
    def run(self, tmp_path, monkeypatch, capsys):
        """A function that runs the command on ready-made models; status, output, errors."""

        monkeypatch.setattr(csdl.Trainer, "train_all", train_all_with(self.make))

        def run(*more):
            status = main([*COMPARE, "--out", str(tmp_path / "run"), *more])
            captured = capsys.readouterr()
            return status, captured.out, captured.err

        return run

    def make(self, name):
        return constant_model(3 if name == "dnn_bayes" else list(ALGORITHMS).index(name) % 10)

    def names(self, folder):
        return {path.name for path in folder.iterdir()}

    def test_an_algorithm(self, run, tmp_path, monkeypatch):
        error = RuntimeError("out of memory")
        fail = failing(self.make, lambda name: name == "dnn_bayes", error)
        monkeypatch.setattr(csdl.Trainer, "train_all", train_all_with(fail))
        status, output, told = run()
        assert status == 1
        assert told == (
            "csdl-keras: digits dnn_bayes for matrix 1000 failed: RuntimeError: out of memory\n"
        )
        assert algorithms(tmp_path / "run") == ["dnn_blind", "dnn_sosr"]
        assert "best_model.keras" in output and (tmp_path / "run" / "costs.png").exists()

    @pytest.mark.parametrize(
        "where, part",
        [
            ("commands.compare.plot_costs", "costs.png"),
            ("display.summary_table", "the table"),
            ("comparison.save_model", "the model of digits dnn_blind for matrix 1000"),
            ("cell_runner.decide", "digits dnn_blind for matrix 1000"),
        ],
    )
    def test_a_step(self, where, part, run, tmp_path, monkeypatch):
        module, name = where.rsplit(".", 1)
        module = importlib.import_module(f"csdl_keras.experiments.{module}")
        calls = []
        first = failing(
            getattr(module, name),
            lambda *_: not calls.append(1) and len(calls) == 1,
            RuntimeError("broken"),
        )
        monkeypatch.setattr(module, name, first)
        status, output, told = run()
        assert status == 1 and told == f"csdl-keras: {part} failed: RuntimeError: broken\n"
        folder = tmp_path / "run"
        expected = {"results.csv", "costs.png", "best_model.keras", "run.json"}
        assert self.names(folder) == expected - {part}
        assert len(algorithms(folder)) == (2 if name == "decide" else 3)
        assert ("average test cost" in output) == (name != "summary_table")
        assert "keras.saving.load_model" in output

    def test_the_best_model_is_the_best_that_could_be_saved(self, run, tmp_path, monkeypatch):
        module = importlib.import_module("csdl_keras.experiments.comparison")
        monkeypatch.setattr(module, "save_model", failing(len, lambda *_: True, OSError("full")))
        status, output, told = run()
        assert status == 1 and "load_model" not in output and "OSError: full" in told
        assert self.names(tmp_path / "run") == {"results.csv", "costs.png", "run.json"}
        assert len(algorithms(tmp_path / "run")) == 3


class TestTrainAll:
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_a_request_that_diverges_costs_no_other(self, jobs):
        data = csdl.datasets.load("digits", train_size=229)
        settings = (
            csdl.Settings()
            .replace({"mlp.hidden_units": (8,), "cnn.learning_rate": 1e30})
            .limit_epochs(1)
        )
        trainer = csdl.Trainer(data.x_train, data.y_train, settings=settings, seed=0, jobs=jobs)
        matrix = csdl.costs.zero_one(10)
        requests = [("cnn_sosr", matrix), ("dnn_sosr", matrix), ("cnn_sosr", matrix)]
        failed = {}
        found = dict(trainer.train_all(requests, on_error=failed.__setitem__))
        assert list(found) == [1]
        assert sorted(failed) == [0, 2]
        assert all(isinstance(error, csdl.DivergedError) for error in failed.values())
        with pytest.raises(csdl.DivergedError):
            list(trainer.train_all(requests))

    def test_what_is_no_function(self):
        data = csdl.datasets.load("digits", train_size=229)
        with pytest.raises(ValueError, match="Expected `on_error` to be a function or None"):
            csdl.Trainer(data.x_train, data.y_train).train_all([], on_error=3)


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    assert main([*TUNE, "--out", str(folder)]) == 0
    return folder


class TestTune:
    @pytest.mark.parametrize(
        "name, file",
        [
            ("write_trials", "trials.csv"),
            ("plot_search", "search.png"),
            ("trials_table", "the table"),
            ("save_model", "best_model.keras"),
        ],
    )
    def test_a_step(self, name, file, searched, capsys, monkeypatch):
        files = {"trials.csv", "search.png", "best_model.keras"}
        for path in files:
            (searched / path).unlink(missing_ok=True)
        modules = {"plot_search": "figures", "trials_table": "display"}
        module = importlib.import_module(
            f"csdl_keras.experiments.{modules.get(name, 'commands.tune')}"
        )
        monkeypatch.setattr(module, name, failing(len, lambda *_: True, RuntimeError("broken")))
        assert main([*TUNE, "--out", str(searched)]) == 1
        captured = capsys.readouterr()
        assert captured.err == f"csdl-keras: {file} failed: RuntimeError: broken\n"
        assert {path.name for path in searched.iterdir()} & files == files - {file}
        assert ("The best trial" in captured.out) == (name != "save_model")

    def test_a_search_that_ends_in_an_error(self, searched, capsys, monkeypatch):
        import keras_tuner

        fail = failing(len, lambda *_, **__: True, RuntimeError("too many trials failed"))
        monkeypatch.setattr(keras_tuner.engine.base_tuner.BaseTuner, "search", fail)
        monkeypatch.setattr(csdl.tuning.RandomSearch, "search", fail)
        (searched / "trials.csv").unlink(missing_ok=True)
        assert main([*TUNE, "--out", str(searched)]) == 1
        assert "the search failed: RuntimeError" in capsys.readouterr().err
        assert (searched / "trials.csv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_in_table2(name, tmp_path, capsys):
    """With the settings of the profile tiny, and what the report says of it."""
    arguments = ["--train-size", "343", "--cost-seeds", "2", "--epochs", "2"]
    arguments += ["--algorithms", f"dnn_blind,{name}"]
    assert main(["table2", "--profile", "tiny", *arguments, "--out", str(tmp_path)]) == 0
    assert set(algorithms(tmp_path)) == {"dnn_blind", name}
    assert algorithms(tmp_path).count(name) == 2
    capsys.readouterr()
    assert main(["report", str(tmp_path)]) == 0
    for file in ("report.html", "table2.md", "table2.tex"):
        assert ALGORITHMS[name].title in (tmp_path / file).read_text()
    assert capsys.readouterr().err == ""
