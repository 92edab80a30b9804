"""Ends a training that neither its loss nor its decisions gain from any more."""

import math

import keras


class StopWhenDone(keras.callbacks.EarlyStopping):
    """`EarlyStopping` that goes on as long as the loss on validation examples falls.

    What decisions cost on validation examples is a noisy figure, since few of them cost much: it
    may be low by chance in an early epoch, and training that waited for a lower one would end
    while the loss still falls. So an epoch counts as one without improvement only if neither the
    monitored value nor `"val_loss"` is lower than ever before. The weights kept are those of the
    best monitored value.

    Args:
        monitor: name of the value in the logs, the lowest of which is best.
        patience: epochs without improvement of either after which training ends.

    Example:

    >>> stop = StopWhenDone("val_average_cost", patience=2)
    >>> stop.set_model(keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]))
    >>> stop.on_train_begin()
    >>> for epoch, loss in enumerate([3.0, 2.0, 1.0, 1.0, 1.0]):
    ...     stop.on_epoch_end(epoch, {"val_average_cost": 0.5 + epoch, "val_loss": loss})
    >>> stop.stopped_epoch, stop.best_epoch
    (4, 0)
    """

    def __init__(self, monitor: str, patience: int):
        super().__init__(monitor, mode="min", patience=patience, restore_best_weights=True)

    def on_train_begin(self, logs: dict[str, float] | None = None) -> None:
        """Forgets an earlier training."""
        super().on_train_begin(logs)
        self.lowest_loss = math.inf

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        """Counts the epoch unless the loss is the lowest one so far."""
        loss = (logs or {}).get("val_loss", math.inf)
        if loss < self.lowest_loss:
            self.lowest_loss = loss
            self.wait = -1  # The base class counts this epoch.
        super().on_epoch_end(epoch, logs)
