"""What is shown of a comparison: lines in a pipe, and a table that grows on a terminal."""

import io
import re
import sys
import time

import pandas
import pytest

from csdl_keras_cli import progress
from csdl_keras_cli.progress import Lines, Screen


class Found:
    """Some rows of a comparison; the last one is the best."""

    def __init__(self, *names):
        self.last = names[-1]
        costs = [float(len(names) - place) for place in range(len(names))]
        columns = {"average_cost": costs, "saved": 0.0, "saved_low": -1.0, "saved_high": 1.0}
        columns |= {"constant_cost": 5.0, "error_rate": 0.5, "train_seconds": 1.0, "mark": "="}
        self.frame = pandas.DataFrame(columns, names)

    def to_frame(self):
        return self.frame


class Pipe(io.StringIO):
    """What came through: flushed texts."""

    through = ""

    def flush(self):
        self.through = self.getvalue()


class Terminal(io.StringIO):
    def isatty(self):
        return True


LONG = "always refuse everything, whatever it is"


def test_lines_in_a_pipe(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.3)
    monkeypatch.setattr(sys, "stdout", pipe := Pipe())
    with (shown := progress.progress(1)):
        assert type(shown) is Lines
        shown.row(Found(LONG))
        shown.row(Found(LONG, "logistic"))
        head, first, second = pipe.through.splitlines()
        assert head.split() == ["cost", "saved", "95", "%", "interval", "errors", "seconds"]
        assert first.startswith("always refuse eve... ") and "1.000" in first
        assert second.startswith("logistic ") and "=" not in second
        assert max(map(len, (head, first, second))) <= 80
        shown.working("csdnn")
        until = time.monotonic() + 20
        while "..." not in pipe.through[len(head) + 90 :] and time.monotonic() < until:
            time.sleep(0.05)
    assert re.search(r"^  \.\.\. csdnn: \d+ s$", pipe.through, re.MULTILINE)
    assert not shown._thread.is_alive()


def test_epochs_and_the_time_left():
    with (shown := progress.Progress()):
        shown.plan({"a": 4, "b": 6})
        shown.working("a")
        callback = shown.callback()
        callback.set_params({"epochs": 4})
        callback.on_epoch_begin(0)
        callback.on_epoch_end(0)
        assert shown.epochs == (1, 10) and shown.status().startswith("a: epoch 1 of 4, about 0 s l")
        shown._seconds = 30.0
        assert shown.left == "about 4 min left"
        shown.done("a")  # It stopped early.
        assert shown.epochs == (4, 10) and shown.left == "about 45 s left"


def test_a_terminal_of_80_columns(monkeypatch):
    for name, value in {"COLUMNS": "80", "LINES": "40", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", screen := Terminal())
    with (shown := progress.progress("auto")):
        assert type(shown) is Screen
        shown.plan({"csdnn": 4})
        shown.working("csdnn")
        shown.row(Found(LONG))
        shown.row(Found(LONG, "logistic"))
        shown.tell("[red]: one line of text")
        shown.row(Found(LONG, "logistic", "csdnn"))
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    lines = re.split(r"[\r\n]+", text)
    assert max(map(len, lines)) <= 80 and "[red]: one line of text" in [it.strip() for it in lines]
    assert sum("csdnn" in it for it in lines) > 1
    final = text[text.rindex("95 % interval") :]
    assert all(name in final for name in ("always refuse", "logistic", "csdnn"))


@pytest.mark.parametrize(("verbose", "kind"), [(0, "Progress"), ("auto", "Progress"), (1, "Lines")])
def test_what_shows_it_without_a_terminal(verbose, kind, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Pipe())
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert type(progress.progress(verbose)).__name__ == kind
