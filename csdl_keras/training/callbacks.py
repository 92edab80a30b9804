"""Keras callbacks for early stopping and a progress bar."""

import math

import keras


class StopWhenDone(keras.callbacks.EarlyStopping):
    """An `EarlyStopping` that does not stop while the validation loss falls."""

    def __init__(self, monitor: str, patience: int):
        super().__init__(monitor, mode="min", patience=patience, restore_best_weights=True)
        self.lowest_loss = math.inf

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        loss = (logs or {}).get("val_loss", math.inf)
        # On few examples, the cost of an early epoch may be low by chance.
        if loss < self.lowest_loss:
            self.lowest_loss = loss
            self.wait = -1  # The base class counts this epoch.
        super().on_epoch_end(epoch, logs)


class EpochBar(keras.callbacks.Callback):
    """Shows a line `what`, and below it a progress bar over epochs with the time left."""

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
