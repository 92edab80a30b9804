"""Tries every pair of output and loss with every metric."""

import keras
import numpy as np
import pytest

from tests.outputs import mismatches
from tests.outputs.mismatches import LOSSES, METRICS, OUTPUTS, WORKS, X, attempt, matrix

LINES = mismatches.TABLE.read_text().splitlines()
MESSAGES = {line.split(". ", 1)[0]: line.split(". ", 1)[1] for line in LINES if line[:1].isdigit()}


def committed(output: str, loss: str) -> list[str]:
    """What the table says of an output and a loss, metric by metric."""
    (row,) = [line for line in LINES if line.startswith(f"| {output} | {loss} |")]
    cells = [cell.strip() for cell in row.split("|")[3:-1]]
    return [cell if cell == WORKS else MESSAGES[cell.strip("[]")] for cell in cells]


def paid(model: keras.Model, kind: str, classes: int, bayes: bool) -> float:
    """What the model's decisions cost, by a loop."""
    costs, total = matrix(classes), 0.0
    for place, row in enumerate(model.predict(X, verbose=0)):
        if kind == "probability":
            row = [1 - row[0], row[0]] if len(row) == 1 else row
            row = (
                [sum(p * c for p, c in zip(row, costs[:, k], strict=True)) for k in range(classes)]
                if bayes
                else [-p for p in row]
            )
        total += costs[place % classes, int(np.argmin(row))]
    return total / len(X)


#: A loss of each kind; with the others, a metric sees the same.
KINDS = ("`SOSRLoss(C)`", "cross-entropy", "a function of your own")
pytestmark = pytest.mark.filterwarnings("ignore:.*received `from_logits=True`")


@pytest.mark.parametrize(
    "loss",
    [loss if loss in KINDS else pytest.param(loss, marks=pytest.mark.slow) for loss in LOSSES],
)
@pytest.mark.parametrize("output", OUTPUTS)
def test_every_cell(output, loss):
    try_cells(output, loss, METRICS)


@pytest.mark.parametrize("number, loss", enumerate(LOSSES))
@pytest.mark.parametrize("output", OUTPUTS)
def test_every_pair(output, number, loss):
    """Each loss without a metric, and with one that differs from loss to loss."""
    try_cells(output, loss, ["none", list(METRICS)[1 + number % (len(METRICS) - 1)]])


def try_cells(output, loss, metrics):
    expected_of = dict(zip(METRICS, committed(output, loss), strict=True))
    for metric in metrics:
        expected = expected_of[metric]
        text, model, logs = attempt(output, loss, metric)
        check(text, expected, output, loss)
        if "average_cost" in logs:
            classes, _, kind = OUTPUTS[output]
            cost = paid(model, kind or "cost", classes, "bayes" in metric)
            assert logs["average_cost"] == pytest.approx(cost, abs=1e-6)


def check(text: str, expected: str, output: str, loss: str) -> None:
    """Compares what a cell says with the table; of two errors either may come first."""
    if committed(output, loss)[0] == WORKS:
        assert text == expected
    else:
        assert text != WORKS


RUNS = {
    "fit": lambda model, x, y: model.fit(x, y, verbose=0, batch_size=4).history and {},
    "evaluate": lambda model, x, y: model.evaluate(x, y, verbose=0, return_dict=True) and {},
}


@pytest.mark.slow
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("run", RUNS)
def test_every_cell_compiled(run, output):
    for loss in LOSSES:
        for metric, said in zip(METRICS, committed(output, loss), strict=True):
            check(attempt(output, loss, metric, RUNS[run])[0], said, output, loss)


def test_no_cell_is_missing():
    rows = [line for line in LINES if line.startswith("| ") and "---" not in line]
    assert len(rows) == 1 + len(OUTPUTS) * len(LOSSES)
    assert all(row.count("|") == 3 + len(METRICS) for row in rows)
