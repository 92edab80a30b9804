"""A part of a run that fails costs no other part, and is told at the end."""

import shutil

import pytest

import csdl_keras as csdl
from csdl_keras.experiments import cell, files, results
from csdl_keras.experiments.failures import Failures
from csdl_keras_cli.main import main
from tests.experiments.grid_runs import TABLE2, algorithms, failing, train_all_with


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


class TestTable2:
    @pytest.fixture
    def run(self, table2, tmp_path, capsys):
        """A function that runs the command in a new folder, with stages; status and errors."""
        shutil.copytree(table2 / "stages", tmp_path / "stages")

        def run(*more):
            status = main([*TABLE2, *more, "--out", str(tmp_path / "run"), "--cache", "stages"])
            return status, capsys.readouterr().err

        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            yield run

    @pytest.mark.parametrize("step", ["training", "describing", "evaluating"])
    def test_the_others_are_written(self, step, run, tmp_path, monkeypatch):
        more = ["--algorithms", "dnn_bayes,dnn_sosr,csdnn"]
        error = KeyError("auto")
        if step == "training":
            fail = failing(lambda name: None, lambda name: name == "dnn_sosr", error)
            monkeypatch.setattr(csdl.Trainer, "train_all", train_all_with(fail))
        elif step == "describing":
            fail = failing(cell.Cell.stages, lambda it, *_: it.algorithm.name == "dnn_sosr", error)
            monkeypatch.setattr(cell.Cell, "stages", fail)
        else:
            of = results.GridResult.of
            fail = failing(of, lambda it, *_: it.cell.algorithm.name == "dnn_sosr", error)
            monkeypatch.setattr(results.GridResult, "of", fail)
        parts = [f"digits dnn_sosr for matrix {seed}" for seed in (1000, 1001)]
        told = f"csdl-keras: {', '.join(parts)} failed: KeyError: 'auto'\n"
        assert run(*more) == (1, told)
        assert algorithms(tmp_path / "run") == ["dnn_bayes"] * 2 + ["csdnn"] * 2
        if step != "training":
            return
        # The same command again runs what failed, and that alone.
        others = failing(lambda name: None, lambda name: name != "dnn_sosr", KeyError())
        monkeypatch.setattr(csdl.Trainer, "train_all", train_all_with(others))
        assert run(*more) == (0, "")
        expected = ["dnn_bayes"] * 2 + ["dnn_sosr"] * 2 + ["csdnn"] * 2
        assert algorithms(tmp_path / "run") == expected

    def test_each_result_is_written_as_it_comes(self, run, tmp_path, monkeypatch):
        """What is there when the third one is about to be written."""
        written = []
        write = files.GridFiles.write_result

        def killed(self, outcome, *arguments, **kwargs):
            if len(written) == 2:
                raise KeyboardInterrupt
            write(self, outcome, *arguments, **kwargs)
            written.append(outcome.cell.algorithm.name)

        monkeypatch.setattr(files.GridFiles, "write_result", killed)
        assert run()[0] == 130
        assert algorithms(tmp_path / "run") == written == ["dnn_bayes", "csdnn"]

    def test_a_data_set_that_fails(self, run, tmp_path, monkeypatch):
        """That is no longer there once the run has begun."""
        from csdl_keras.experiments import data_source

        fail = failing(len, lambda *_, **__: True, MemoryError("not enough memory"))
        monkeypatch.setattr(data_source.datasets, "imbalance", fail)
        data_source._whole.cache_clear()
        told = "csdl-keras: digits_imb failed: MemoryError: not enough memory\n"
        assert run("--datasets", "digits_imb,digits") == (1, told)
        assert len(algorithms(tmp_path / "run")) == 4


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_request_that_diverges_costs_no_other(jobs):
    data = csdl.datasets.load("digits", train_size=229)
    settings = csdl.Settings().replace({"mlp.hidden_units": (8,), "cnn.learning_rate": 1e30})
    settings = settings.limit_epochs(1)
    trainer = csdl.Trainer(data.x_train, data.y_train, settings=settings, seed=0, jobs=jobs)
    requests = [(name, csdl.costs.zero_one(10)) for name in ("cnn_sosr", "dnn_sosr")]
    failed = {}
    assert list(dict(trainer.train_all(requests, on_error=failed.__setitem__))) == [1]
    assert [type(failed.pop(0)), failed] == [csdl.DivergedError, {}]
    with pytest.raises(csdl.DivergedError):
        list(trainer.train_all(requests[:1]))
    with pytest.raises(ValueError, match="Expected `on_error` to be a function or None"):
        trainer.train_all([], on_error=3)
