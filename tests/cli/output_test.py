"""Commands whose output cannot be written: what they write to files is all there."""

import errno
import io
import os
import sys

import pytest

import csdl_keras as csdl
from csdl_keras_cli.main import main
from tests.cli.runs import constant_model, names, train_with

COMPARE = "compare --dataset digits --train-size 343 --cost-seeds 1".split()
FILES = {"results.csv", "costs.png", "best_model.joblib", "run.json"}


class FailingStream(io.StringIO):
    """A stream that fails from the second text on."""

    def __init__(self, error):
        super().__init__()
        self.failure, self.calls = error, 0

    def write(self, text):
        self.calls += 1
        if self.calls > 1:
            raise self.failure
        return super().write(text)


STREAMS = {
    "none": (lambda: None, 0),
    "closed": (lambda: open(os.devnull), 1),  # takes no text
    "no reader": (lambda: FailingStream(BrokenPipeError(errno.EPIPE, "Broken pipe")), 0),
    "full disk": (lambda: FailingStream(OSError(errno.ENOSPC, "No space left on device")), 1),
    "ascii": (lambda: io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict"), 0),
}


@pytest.mark.parametrize("name", STREAMS)
def test_files_are_there(name, tmp_path, monkeypatch):
    make, status = STREAMS[name]
    output, folder = make(), tmp_path / "run[old]/a[/x]:b"
    monkeypatch.setattr(csdl.Trainer, "train", train_with(lambda name: constant_model(0)))
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", output)
        if name == "none":  # as in a service without a terminal
            patch.setattr(sys, "stderr", output)
        assert main([*COMPARE, "--algorithms", "dnn_blind", "--out", str(folder)]) == status
        assert sys.stdout is output
    assert names(folder) == FILES
    if name == "ascii":
        output.flush()
        assert f"results in {folder}" in output.buffer.getvalue().decode("ascii")
    if name == "full disk":
        assert output.calls == 2  # in silence from there on
