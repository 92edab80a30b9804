"""Commands whose output cannot be written: what they write to files is all there."""

import csv
import errno
import importlib
import io
import os
import shutil
import subprocess
import sys

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.experiments.cli import TolerantStream, main, tolerant_output
from tests.experiments.compare_test import constant_model
from tests.experiments.grid_runs import train_all_with
from tests.experiments.reporting.markup_test import PLAIN, write
from tests.support.fresh_process import REPOSITORY

DATA = ["--dataset", "digits", "--train-size", "343", "--epochs", "1"]
COMPARE = ["compare", *DATA, "--cost-seeds", "1", "--algorithms", "dnn_blind,dnn_bayes"]
TABLE2 = ["table2", "--train-size", "343", "--epochs", "1", "--cost-seeds", "1"]
TABLE2 += ["--algorithms", "dnn_blind,dnn_bayes"]
TUNE = ["tune", *DATA, "--depth", "1", "--units", "8", "--pretraining-epochs", "1"]
TUNE += ["--max-trials", "1", "--beta", "0.25"]
FOLDER = "run[old]/a[/x]:b"
FILES = {
    "compare": {"results.csv", "costs.png", "best_model.keras", "run.json"},
    "table2": {"results.csv", "choices.csv", "beta_curve.csv", "run.json"},
    "report": {"report.html", "table2.md", "table2.tex", "costs.png", "beta_curve.png"},
    "tune": {"trials.csv", "search.png", "best_model.keras", "run.json"},
    "export": {"model.onnx"},
}


class FailingStream(io.StringIO):
    """A stream that fails from the second text on."""

    encoding = "utf-8"

    def __init__(self, error):
        super().__init__()
        self.failure, self.calls = error, 0

    def write(self, text):
        self.calls += 1
        if self.calls > 1:
            raise self.failure
        return super().write(text)


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


STREAMS = {
    "none": lambda: None,
    "closed": closed,
    "no reader": lambda: FailingStream(BrokenPipeError(errno.EPIPE, "Broken pipe")),
    "full disk": lambda: FailingStream(OSError(errno.ENOSPC, "No space left on device")),
    "ascii": lambda: io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict"),
    "latin-1": lambda: io.TextIOWrapper(io.BytesIO(), encoding="latin-1", errors="strict"),
    "20 columns": io.StringIO,
}


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """What makes the commands quick: a finished search, finished stages, results, a model."""
    folder = tmp_path_factory.mktemp("before")
    assert main([*TUNE, "--out", str(folder / "tune")]) == 0
    assert main([*TABLE2, "--out", str(folder / "table2")]) == 0
    (folder / "results").mkdir()
    write(folder / "results", PLAIN, (PLAIN, PLAIN, PLAIN))
    constant_model(3).save(folder / "model.keras")
    return folder


@pytest.fixture
def command(before, tmp_path, monkeypatch):
    """A function from the name of a command to its arguments and the folder of its files."""

    def export(model, path, *choices):
        path.write_bytes(b"exported")

    decisions = {"dnn_blind": 0, "dnn_bayes": 1}
    train_all = train_all_with(lambda name: constant_model(decisions[name]))
    monkeypatch.setattr(csdl.Trainer, "train_all", train_all)
    monkeypatch.setattr(
        importlib.import_module("csdl_keras.experiments.commands.export"), "export", export
    )
    out = tmp_path / FOLDER

    def make(name):
        if name in ("tune", "export"):
            out.parent.mkdir(parents=True)
        if name == "tune":
            shutil.copytree(before / "tune", out)
            for path in FILES["tune"] - {"run.json"}:
                (out / path).unlink()
        if name == "export":
            out.mkdir()
            return [
                *["export", str(before / "model.keras"), str(out / "model.onnx")],
                *["--format", "onnx"],
            ], out
        arguments = {
            "compare": [*COMPARE, "--jobs", "1"],
            "table2": [*TABLE2, "--cache", str(before / "table2" / "stages")],
            "report": ["report", str(before / "results")],
            "tune": TUNE,
        }[name]
        return [*arguments, "--out", str(out)], out

    return make


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("name", FILES)
def test_files_are_there(name, stream, command, monkeypatch):
    arguments, folder = command(name)
    output = STREAMS[stream]()
    if stream == "20 columns":
        monkeypatch.setenv("COLUMNS", "20")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", output)
        assert main(arguments) == 0
        assert sys.stdout is output
    found = {path.name for path in folder.rglob("*") if path.is_file() and path.stat().st_size}
    assert FILES[name] <= found
    if stream in ("ascii", "latin-1"):
        output.flush()
        printed = output.buffer.getvalue().decode(stream)
        assert str(folder).replace(os.sep, "") in printed.replace("\n", "").replace(os.sep, "")
        if name == "compare":
            assert "DNN Bayes" in printed
    if stream == "20 columns" and name == "compare":
        with (folder / "results.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                assert f"{float(row['average_cost']):.3f}" in output.getvalue()
                title = csdl.ALGORITHMS[row["algorithm"]].title
                assert f"{row['algorithm']} ({title})" in output.getvalue()
    if stream == "full disk":
        assert output.calls == 2  # in silence from there on


@pytest.mark.parametrize("name", FILES)
def test_errors_go_the_same_way(name, command, monkeypatch):
    """Nothing can be printed at all, as in a service without a terminal."""
    arguments, folder = command(name)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        patch.setattr(sys, "stderr", None)
        assert main(arguments) == 0
        if name != "export":
            assert main([*arguments, "--out", "/dev/null/a"]) == 2
    assert folder.exists()


def test_table1_fails_where_it_cannot_print(monkeypatch):
    for error, status in ((OSError(errno.ENOSPC, "No space"), 1), (BrokenPipeError(), 0)):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", FailingStream(error))
            assert main(["table1"]) == status


class TestTolerantStream:
    def test_letters_that_an_encoding_lacks(self):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        TolerantStream(stream).write("1 ± 2 \udcff")
        stream.flush()
        assert stream.buffer.getvalue() == b"1 ? 2 ?"

    def test_other_errors_are_raised(self):
        class WrongStream:
            def write(self, text):
                raise TypeError("Expected bytes.")

        with pytest.raises(TypeError, match="Expected bytes"):
            TolerantStream(WrongStream()).write("a")

    def test_streams_are_back_afterwards(self):
        streams = sys.stdout, sys.stderr
        with pytest.raises(RuntimeError), tolerant_output() as output:
            assert sys.stdout is output
            raise RuntimeError
        assert (sys.stdout, sys.stderr) == streams


PROGRAM = "import sys; from csdl_keras.experiments.cli import main; sys.exit(main({!r}))"


@pytest.mark.slow
@pytest.mark.parametrize(
    "redirection, variables",
    [
        (">&-", {}),
        (">&- 2>&- <&-", {}),
        ("> /dev/full", {}),
        ("> /dev/full 2> /dev/full", {}),
        ("| head -n 1", {}),
        ("| true", {}),
        ("", {"PYTHONIOENCODING": "ascii"}),
        ("", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
        ("", {"COLUMNS": "20"}),
    ],
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_process_of_its_own(redirection, variables, tmp_path):
    """All of it, with training in two processes."""
    folder = tmp_path / FOLDER
    arguments = [*COMPARE, "--jobs", "2", "--out", str(folder)]
    code = PROGRAM.format(arguments)
    shell = f'set -o pipefail; "$PYTHON" -c "$CODE" {redirection}'
    environment = {
        **os.environ,
        "KERAS_BACKEND": keras.backend.backend(),
        "PYTHONPATH": str(REPOSITORY),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHON": sys.executable,
        "CODE": code,
        **variables,
    }
    done = subprocess.run(["bash", "-c", shell], env=environment, capture_output=True, timeout=400)
    assert done.returncode == 0, done.stderr.decode()
    assert {path.name for path in folder.iterdir()} == FILES["compare"]
    data = csdl.datasets.load("digits")
    model = keras.saving.load_model(folder / "best_model.keras")
    assert np.isin(csdl.decide(model, data.x_test), range(10)).all()
