"""Commands whose output cannot be written: what they write to files is all there."""

import errno
import io
import os
import sys

import pytest

import csdl_keras as csdl
from csdl_keras_cli.main import main
from csdl_keras_cli.output import TolerantStream
from tests.cli.runs import constant_model, names, train_all_with

COMPARE = "compare --dataset digits --train-size 343 --epochs 1 --cost-seeds 1".split()
COMPARE += ["--algorithms", "dnn_blind,dnn_bayes"]
FOLDER = "run[old]/a[/x]:b"
FILES = {"results.csv", "costs.png", "best_model.keras", "run.json"}


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
}


@pytest.mark.parametrize("name", STREAMS)
def test_files_are_there(name, tmp_path, monkeypatch):
    folder, output = tmp_path / FOLDER, STREAMS[name]()
    decisions = {"dnn_blind": 0, "dnn_bayes": 1}
    train_all = train_all_with(lambda name: constant_model(decisions[name]))
    monkeypatch.setattr(csdl.Trainer, "train_all", train_all)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", output)
        if name == "none":  # as in a service without a terminal
            patch.setattr(sys, "stderr", output)
        assert main([*COMPARE, "--jobs", "1", "--out", str(folder)]) == 0
        assert sys.stdout is output
    assert names(folder) == FILES
    if name == "ascii":
        output.flush()
        printed = output.buffer.getvalue().decode("ascii")
        assert f"Wrote {folder / 'results.csv'}, " in printed
    if name == "full disk":
        assert output.calls == 2  # in silence from there on


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
