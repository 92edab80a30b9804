"""Compares pairs of outputs and losses, with metrics, with the committed table."""

import re

import keras
import numpy as np
import pytest

from tests.outputs import mismatches
from tests.outputs.mismatches import LOSSES, METRICS, OUTPUTS, WORKS, X, attempt, matrix

LINES = mismatches.TABLE.read_text().splitlines()
MESSAGES = {line.split(". ", 1)[0]: line.split(". ", 1)[1] for line in LINES if line[:1].isdigit()}
OWN, RUNS = "a function of your own", {"fit": {"batch_size": 4}, "evaluate": {}}
#: Outputs whose kind depends on the loss, and losses of each kind.
OPEN = ("linear", "one linear unit", "logistic units", "linear, structure unknown")
KINDS = ("`SOSRLoss(C)`", "cross-entropy", OWN)
pytestmark = pytest.mark.filterwarnings("ignore:.*received `from_logits=True`")


def committed(output, loss):
    """Returns the messages of the table for an output and a loss, by metric."""
    (row,) = [line for line in LINES if line.startswith(f"| {output} | {loss} |")]
    cells = [cell.strip() for cell in row.split("|")[3:-1]]
    cells = [cell if cell == WORKS else MESSAGES[cell.strip("[]")] for cell in cells]
    return dict(zip(METRICS, cells, strict=True))


def paid(model, kind, classes, bayes):
    """Computes the mean cost of the model's decisions in a loop."""
    costs, total = matrix(classes), 0.0
    for place, row in enumerate(keras.ops.convert_to_numpy(model(X))):
        if kind == "probability":
            row = np.array([1 - row[0], row[0]]) if len(row) == 1 else row
            row = row @ costs if bayes else -row
        total += costs[place % classes, np.argmin(row)]
    return total / len(X)


def check(output, loss, metrics, run=None):
    """Compares cells with the table; if a loss alone fails, either of two errors may come first."""
    expected = committed(output, loss)
    for metric in metrics:
        text, model, logs = attempt(output, loss, metric, run)
        text = re.sub(r"\((4|None), ", f"({len(X)}, ", text)  # `fit` sees batches, of any size
        assert text == expected[metric] if expected["none"] == WORKS else text != WORKS
        if run is None and "average_cost" in logs:
            classes, _, kind = OUTPUTS[output]
            cost = paid(model, kind or "cost", classes, "bayes" in metric)
            assert logs["average_cost"] == pytest.approx(cost, abs=1e-6)


@pytest.mark.parametrize("output", OUTPUTS)
def test_losses_alone_and_with_metrics(output):
    for loss in LOSSES:
        every = loss in KINDS if output in OPEN else loss == OWN
        check(output, loss, METRICS if every else ["none"])


@pytest.mark.slow
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("run", [None, *RUNS])
def test_every_cell(run, output):
    def compiled(model, x, y):
        getattr(model, run)(x, y, verbose=0, **RUNS[run])
        return {}

    for loss in LOSSES:
        check(output, loss, METRICS, run and compiled)
