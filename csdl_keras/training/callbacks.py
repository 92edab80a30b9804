"""Keras callbacks that end a training, show it, and price decisions on validation examples."""

import math
from typing import Any, ClassVar

import keras
import numpy as np

from csdl_keras._utils.arrays import check_rows
from csdl_keras._utils.checks import OUTPUTS, check_choice
from csdl_keras._utils.structure import check_inputs, has_structure, rows_output_of
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import check_labels
from csdl_keras.costs.known import CostsLike, check_known_costs, vectors_of_labels
from csdl_keras.prediction.bayes_decisions import bayes_decisions
from csdl_keras.prediction.decide import decisions
from csdl_keras.prediction.kind import output_kind


class StopWhenDone(keras.callbacks.EarlyStopping):
    """`EarlyStopping` that goes on as long as the loss on validation examples falls.

    What decisions cost on few examples may be low by chance in an early epoch. So an epoch counts
    as one without improvement only if neither the monitored value nor `"val_loss"` is lower than
    ever before. The weights kept are those of the best monitored value.
    """

    def __init__(self, monitor: str, patience: int):
        super().__init__(monitor, mode="min", patience=patience, restore_best_weights=True)

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        super().on_train_begin(logs)
        self.lowest_loss = math.inf

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        loss = (logs or {}).get("val_loss", math.inf)
        if loss < self.lowest_loss:
            self.lowest_loss = loss
            self.wait = -1  # The base class counts this epoch.
        super().on_epoch_end(epoch, logs)


class EpochBar(keras.callbacks.Callback):
    """Shows a bar of the epochs of a `fit`, with the time left, below a line of `what`."""

    observes_only = True

    def __init__(self, what: str):
        super().__init__()
        self.what = what

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        print(self.what, flush=True)
        self._bar = keras.utils.Progbar(
            self.params["epochs"], stateful_metrics=["loss", "val_loss"], unit_name="epoch"
        )

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        shown = [(name, float(it)) for name, it in (logs or {}).items() if name.endswith("loss")]
        self._seen = epoch + 1
        self._bar.update(self._seen, shown, finalize=False)

    def on_train_end(self, logs: dict[str, float] | None = None) -> None:
        self._bar.update(self._seen, finalize=True)


class ValidationCost(keras.callbacks.Callback):
    """Computes after each epoch what decisions with known costs cost on validation examples.

    `1/N sum_n C[n, y_n, d_n]` with the Bayes decision `d_n = argmin_k sum_y P(y|x_n) C[n, y, k]`
    of a model that outputs probabilities, or the argmin of one that outputs costs. The history,
    and callbacks that come later in the list of `fit`, find it as `"val_average_cost"`. It is NaN
    where an output is not finite.

    Args:
        x_val: inputs, as `csdl_keras.decide` takes them; with an input of costs, all inputs.
        y_val: integer labels `(N,)`.
        costs, output: as in `csdl_keras.decide`; a cost matrix, `(N, K, D)` or `AffineCosts`.
        batch_size: as in `keras.Model.predict`. Defaults to 1024.

    Raises:
        ValueError: if an argument fails its check; from `fit`, before it trains, if the
            model's outputs do not fit the costs.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, "softmax")])
    >>> model.compile("sgd", "sparse_categorical_crossentropy")
    >>> x, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
    >>> best = keras.callbacks.EarlyStopping("val_average_cost", mode="min", patience=2)
    >>> callbacks = [ValidationCost(x[40:], y[40:], [[0, 1], [9, 0]]), best]
    >>> history = model.fit(x[:40], y[:40], epochs=2, verbose=0, callbacks=callbacks)
    >>> len(history.history["val_average_cost"])
    2
    """

    #: The name in `logs`.
    monitor: ClassVar[str] = "val_average_cost"
    observes_only = True

    def __init__(
        self,
        x_val: Any,
        y_val: ArrayLike,
        costs: CostsLike,
        output: str | None = None,
        batch_size: int | None = 1024,
    ):
        super().__init__()
        checked = check_known_costs(costs)
        labels = check_labels(y_val, checked.shape[-2])
        if len(checked.shape) == 3:
            check_known_costs(checked, num_examples=len(labels))
        if hasattr(x_val, "shape"):
            check_rows("x_val", x_val, len(labels))
        self.x_val = x_val
        self.costs = checked
        self.output = None if output is None else check_choice("output", output, OUTPUTS)
        self.batch_size = batch_size
        self._vectors = vectors_of_labels(labels, checked)

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        self._inputs = check_inputs(self.model, self.x_val)
        self._kind = output_kind(self.model, self.output)
        if not has_structure(self.model):
            return
        classes, num_decisions = self.costs.shape[-2:]
        width = int(rows_output_of(self.model).shape[-1])
        expected, what = num_decisions, "decisions"
        if self._kind == "probability":
            width, expected, what = max(width, 2), classes, "classes"
        if width != expected:
            raise ValueError(
                f"Expected `costs` of {width} {what}, as the model outputs; received {expected}."
            )

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        outputs = self.model.predict(self._inputs, batch_size=self.batch_size, verbose=0)
        cost = math.nan
        if np.isfinite(outputs).all():
            if self._kind == "cost":
                decided = decisions(outputs, "cost")
            else:
                decided = bayes_decisions(outputs, self.costs)
            cost = float(self._vectors[np.arange(len(decided)), decided].mean())
        if logs is not None:
            logs[self.monitor] = cost
