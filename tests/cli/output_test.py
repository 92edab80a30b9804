"""Commands whose output cannot be written: what they write to files is all there."""

import errno
import importlib
import io
import os
import subprocess
import sys

import keras
import pytest

import csdl_keras as csdl
from csdl_keras_cli.main import main
from csdl_keras_cli.output import TolerantStream
from tests.experiments.compare_test import constant_model
from tests.experiments.grid_runs import read, train_all_with
from tests.experiments.reporting.markup_test import PLAIN, write
from tests.support.fresh_process import REPOSITORY

COMPARE = "compare --dataset digits --train-size 343 --epochs 1 --cost-seeds 1".split()
COMPARE += ["--algorithms", "dnn_blind,dnn_bayes"]
FOLDER = "run[old]/a[/x]:b"
FILES = {
    "compare": {"results.csv", "costs.png", "best_model.keras", "run.json"},
    "report": {"report.html", "table2.md", "table2.tex", "costs.png", "beta_curve.png"},
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


STREAMS = {
    "none": lambda: None,
    "closed": lambda: open(os.devnull),  # takes no text either
    "no reader": lambda: FailingStream(BrokenPipeError(errno.EPIPE, "Broken pipe")),
    "full disk": lambda: FailingStream(OSError(errno.ENOSPC, "No space left on device")),
    "ascii": lambda: io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict"),
    "20 columns": io.StringIO,
}


@pytest.fixture
def command(tmp_path, monkeypatch):
    """A function from the name of a command to its arguments and the folder of its files."""
    out, model = tmp_path / FOLDER, tmp_path / "model.keras"
    decisions = {"dnn_blind": 0, "dnn_bayes": 1}
    train_all = train_all_with(lambda name: constant_model(decisions[name]))
    monkeypatch.setattr(csdl.Trainer, "train_all", train_all)
    module = importlib.import_module("csdl_keras.experiments.commands.export")
    monkeypatch.setattr(module, "export", lambda model, path, *_: path.write_bytes(b"a"))

    def make(name):
        if name == "report":
            (tmp_path / "results").mkdir()
            write(tmp_path / "results", PLAIN, (PLAIN, PLAIN, PLAIN))
            return ["report", str(tmp_path / "results"), "--out", str(out)], out
        if name == "export":
            out.mkdir(parents=True)
            constant_model(3).save(model)
            return ["export", str(model), str(out / "model.onnx"), "--format", "onnx"], out
        return [*COMPARE, "--jobs", "1", "--out", str(out)], out

    return make


@pytest.mark.parametrize(
    "name, stream",
    [
        *((name, "ascii") for name in FILES),
        *(("export", stream) for stream in STREAMS if stream != "ascii"),
        *(("compare", stream) for stream in ("full disk", "20 columns")),
    ],
)
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
    if stream == "ascii":
        output.flush()
        printed = output.buffer.getvalue().decode(stream)
        assert str(folder).replace(os.sep, "") in printed.replace("\n", "").replace(os.sep, "")
    if name == "compare" and stream == "20 columns":
        for row in read(folder):
            assert f"{float(row['average_cost']):.3f}" in output.getvalue()
            title = csdl.ALGORITHMS[row["algorithm"]].title
            assert f"{row['algorithm']} ({title})" in output.getvalue()
    if name == "compare" and stream == "full disk":
        assert output.calls == 2  # in silence from there on


def test_nothing_can_be_printed_at_all(command, monkeypatch):
    """As in a service without a terminal."""
    arguments, folder = command("export")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        patch.setattr(sys, "stderr", None)
        assert main(arguments) == 0
        assert main([*COMPARE, "--out", "/dev/null/a"]) == 2
    assert (folder / "model.onnx").exists()


def test_table1_fails_where_it_cannot_print(monkeypatch):
    for error, status in ((OSError(errno.ENOSPC, "No space"), 1), (BrokenPipeError(), 0)):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", FailingStream(error))
            assert main(["table1"]) == status


def test_letters_that_an_encoding_lacks():
    stream = STREAMS["ascii"]()
    TolerantStream(stream).write("1 ± 2 \udcff")
    stream.flush()
    assert stream.buffer.getvalue() == b"1 ? 2 ?"


@pytest.mark.slow
@pytest.mark.parametrize(
    "redirection, variables",
    [
        (">&- 2>&- <&-", {}),
        ("> /dev/full", {}),
        ("| head -n 1", {}),
        ("", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    ],
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_process_of_its_own(redirection, variables, tmp_path):
    """All of it, with training in two processes."""
    folder = tmp_path / FOLDER
    arguments = [*COMPARE, "--jobs", "2", "--out", str(folder)]
    code = f"import sys; from csdl_keras_cli.main import main; sys.exit(main({arguments}))"
    shell = f'set -o pipefail; "$PYTHON" -c "$CODE" {redirection}'
    environment = {"KERAS_BACKEND": keras.backend.backend(), "PYTHONPATH": str(REPOSITORY)}
    environment |= {**os.environ, "PYTHON": sys.executable, "CODE": code, **variables}
    done = subprocess.run(["bash", "-c", shell], env=environment, capture_output=True, timeout=400)
    assert done.returncode == 0, done.stderr.decode()
    assert {path.name for path in folder.iterdir()} == FILES["compare"]
    keras.saving.load_model(folder / "best_model.keras")
