"""Every pair of a model's output and a loss, with every metric, tried in `evaluate`.

`python -m tests.outputs.mismatches` writes `mismatches.md` beside this file, a table of what works
and of the errors of the others, which a test compares.
"""

import functools
import pathlib
import re
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import layers

import csdl_keras as csdl

TABLE = pathlib.Path(__file__).with_suffix(".md")
X = np.random.default_rng(0).normal(size=(12, 4)).astype("float32")
WORKS = "works"


class Whole(keras.Model):
    """A model whose structure cannot be seen."""

    def __init__(self, activation: str | None):
        super().__init__(name="model")
        self.dense = _dense(3, activation)

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)


def _dense(units: int, activation: str | None = None, kind: Any = layers.Dense) -> Any:
    options = {"activation": activation} if kind is layers.Dense else {}
    normal = keras.initializers.RandomNormal(seed=1)
    return kind(units, name="end", kernel_initializer=normal, **options)


def _model(units: int, *arguments: Any, decides: bool = False) -> keras.Model:
    ends = [csdl.BayesDecision(matrix(3), name="bayes")] if decides else []
    return keras.Sequential([keras.Input((4,)), _dense(units, *arguments), *ends], name="model")


def matrix(classes: int) -> np.ndarray:
    """Costs whose cheapest and costliest decisions differ from the most probable class."""
    costs = np.array([[0.0, 0.1, 1.0], [0.9, 0.0, 0.2], [0.05, 0.7, 0.0]])
    return costs[:classes, :classes]


#: Number of classes, function that makes a model, and kind of its outputs.
OUTPUTS: dict[str, tuple[int, Callable[[], keras.Model], str | None]] = {
    "`CostOutput`": (3, lambda: _model(3, None, csdl.CostOutput), "cost"),
    "`BayesDecision`": (3, lambda: _model(3, "softmax", decides=True), "cost"),
    "softmax": (3, lambda: _model(3, "softmax"), "probability"),
    "one logistic unit": (2, lambda: _model(1, "sigmoid"), "probability"),
    "linear": (3, lambda: _model(3), None),
    "one linear unit": (2, lambda: _model(1), None),
    "logistic units": (3, lambda: _model(3, "sigmoid"), None),
    "softmax, structure unknown": (3, lambda: Whole("softmax"), "probability"),
    "linear, structure unknown": (3, lambda: Whole(None), None),
}


def _entropy(classes: int, from_logits: bool = False) -> keras.Loss:
    made = keras.losses.BinaryCrossentropy, keras.losses.SparseCategoricalCrossentropy
    return made[classes > 2](from_logits=from_logits)


#: Functions that make a loss for a number of classes.
LOSSES: dict[str, Callable[[int], Any]] = {
    "`SOSRLoss(C)`": lambda k: csdl.SOSRLoss(matrix(k)),
    "`OneSidedLoss(C)`": lambda k: csdl.OneSidedLoss(matrix(k)),
    "`PoissonCostLoss(C)`": lambda k: csdl.PoissonCostLoss(matrix(k)),
    "`LogisticCostLoss(C)`": lambda k: csdl.LogisticCostLoss(matrix(k)),
    "`MINLoss(C)`": lambda k: csdl.MINLoss(matrix(k)),
    "`expected_cost`": lambda k: csdl.losses.expected_cost,
    "cross-entropy": _entropy,
    "cross-entropy, `from_logits=True`": functools.partial(_entropy, from_logits=True),
    "a function of your own": lambda k: lambda labels, outputs: keras.ops.mean(outputs, axis=-1),
}
METRICS: dict[str, Callable[[int], Any]] = {
    "none": lambda k: None,
    "`AverageCost(C)`": lambda k: csdl.AverageCost(matrix(k)),
    '`AverageCost(C, "cost")`': lambda k: csdl.AverageCost(matrix(k), "cost"),
    '`AverageCost(C, "probability")`': lambda k: csdl.AverageCost(matrix(k), "probability"),
    "`AverageCost(C, bayes=True)`": lambda k: csdl.AverageCost(matrix(k), bayes=True),
    "`DecisionAccuracy()`": lambda k: csdl.DecisionAccuracy(),
    "`NormalizedCost(C)`": lambda k: csdl.NormalizedCost(matrix(k)),
    "`Savings(C)`": lambda k: csdl.Savings(matrix(k)),
    '`"accuracy"`': lambda k: "accuracy",
}


def attempt(
    output: str, loss: str, metric: str, run: Callable[..., Any] | None = None
) -> tuple[str, keras.Model, dict[str, float]]:
    """Returns the text of a cell of the table, the model, and the metrics if it works.

    `run` takes a model, inputs and labels; the default is `test_on_batch`, run eagerly.
    """
    classes, build, _ = OUTPUTS[output]
    model, chosen = build(), METRICS[metric](classes)
    eagerly = run is None and keras.backend.backend() != "jax"
    model.compile("sgd", LOSSES[loss](classes), metrics=chosen and [chosen], run_eagerly=eagerly)
    labels = np.arange(len(X)) % classes
    try:
        if run is None:
            return WORKS, model, model.test_on_batch(X, labels, return_dict=True)
        return WORKS, model, run(model, X, labels)
    except ValueError as error:
        return message(error), model, {}


def message(error: ValueError) -> str:
    """Returns the error's own text, without what Keras adds before and after it."""
    found = re.search(r"Expected .*", re.sub(r"\x1b\[\d*m", "", str(error)))
    assert found, f"an error that is not ours: {error}"
    text = re.sub(r"'(average_cost|decision_accuracy|normalized_cost|savings)'", "METRIC", found[0])
    text = re.sub(r"'\w+_loss'", "LOSS", text)
    text = re.sub(r"which ends in (\w+ '\w+'( with activation '\w+')?|an output.* show)", "…", text)
    return re.sub(r"such as \[.*?\]|received \[.*?\]", "received ROWS", text)


def table() -> str:
    """Returns the table as Markdown, with numbered messages below it."""
    messages: dict[str, int] = {}
    lines = [
        "# Which outputs, losses and metrics go together",
        "",
        "`C` is a cost matrix; labels are integers. Each cell was tried: it works, or "
        "raises the error of that number before the first step, where METRIC and LOSS stand "
        "for their names and … for the model's last layer. "
        "`python -m tests.outputs.mismatches` writes it.",
        "",
        f"| the model ends in | loss | {' | '.join(METRICS)} |",
        "| --- " * (2 + len(METRICS)) + "|",
    ]
    for output in OUTPUTS:
        for loss in LOSSES:
            cells = []
            alone = attempt(output, loss, "none")[0]
            for metric in METRICS:
                # Backends differ in which of two errors comes first.
                said = attempt(output, loss, metric)[0] if alone == WORKS else alone
                if said == WORKS:
                    cells.append(WORKS)
                else:
                    cells.append(f"[{messages.setdefault(said, len(messages) + 1)}]")
            lines.append(f"| {output} | {loss} | {' | '.join(cells)} |")
    lines += ["", *(f"{number}. {text}" for text, number in messages.items()), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    TABLE.write_text(table())
