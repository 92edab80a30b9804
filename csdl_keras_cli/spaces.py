"""The search spaces of `csdl-keras tune`, and the settings of a trial."""

from collections.abc import Callable, Mapping
from typing import Any

import keras_tuner
import numpy as np

from csdl_keras import Algorithm, Settings, Trainer
from csdl_keras.training.settings import column
from csdl_keras.tuning import CNNHyperModel, CSDNNHyperModel, Range
from csdl_keras.tuning.hyper_models import Space, declare

_MLP = "optimizer learning_rate depth units beta corruption pretraining_learning_rate".split()
#: Default spaces of each body; only those that an algorithm uses are searched.
_SPACES: dict[str, dict[str, Space]] = {
    "mlp": {name: CSDNNHyperModel.choices[name] for name in _MLP},
    "cnn": {name: CNNHyperModel.choices[name] for name in ("optimizer", "learning_rate")},
    "svm": {
        "penalty": Range(0.1, 100.0, sampling="log"),
        "gamma_factor": Range(0.1, 10.0, sampling="log"),
    },
    "auto": {
        "learning_rate": Range(1e-3, 1e-2, sampling="log"),
        "filters": (16, 32),
        "label_smoothing": (0.0, 0.05, 0.1),
    },
}
#: Fields of bodies whose names differ from those of their spaces.
_FIELDS = {"depth": "hidden_units", "units": "hidden_units", "optimizer": "optimizer_name"}
_INTEGERS = ("depth", "units", "filters", "batch_size", "epochs", "pretraining_epochs")


def parse_space(name: str, text: str) -> list[Any] | Range:
    """Parses a space written as `"0.25"`, `"0,0.25,1"`, `"0.01:1"` or `"0.01:1:log"`."""
    if name == "optimizer":
        return [part.strip() for part in text.split(",")]
    number = int if name in _INTEGERS else float
    try:
        if ":" in text:
            low, high, *sampling = text.split(":")
            return Range(number(low), number(high), None, *sampling)
        return [number(part) for part in text.split(",")]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"--{name.replace('_', '-')} must be {number.__name__} values such as a,b,c or a range "
            f"low:high or low:high:log; received {text!r} ({error})"
        ) from error


class SettingsHyperModel(keras_tuner.HyperModel):
    """Searches the settings of an algorithm; `given` has the user's spaces as text."""

    def __init__(
        self,
        algorithm: Algorithm,
        trainer: Trainer,
        prices: np.ndarray | None,
        given: Mapping[str, str],
        train: Callable[[Settings], dict[str, float]],
    ):
        super().__init__()
        self.key, self.settings = trainer.key(algorithm, prices), trainer.settings
        self.train, shape = train, trainer.data.train.x.shape
        self.names = {column(name): name for name in self.settings.names(algorithm)}
        if len(shape) != 4:
            self.names.pop("filters", None)
        if not algorithm.weighs_costs:  # Calibration would not undo it.
            self.names.pop("label_smoothing", None)
        spaces = dict(_SPACES[str(algorithm.body)])
        body = self.settings.body_of(algorithm)
        if algorithm.body in ("auto", "cnn"):  # The others stop by themselves.
            epochs = body.epochs_on(shape)
            spaces["epochs"] = (epochs, 2 * epochs)
        if algorithm.body == "auto":
            spaces["batch_size"] = (body.batch_on(shape), 2 * body.batch_on(shape))
        spaces |= {name: parse_space(name, text) for name, text in given.items()}
        self.spaces = {it: one for it, one in spaces.items() if _FIELDS.get(it, it) in self.names}
        if unread := [name for name in given if name not in self.spaces]:
            raise ValueError(
                f"--{unread[0].replace('_', '-')} {given[unread[0]]} has no effect: "
                f"{algorithm.name} does not use it on these data."
            )

    def build(self, hp: keras_tuner.HyperParameters) -> Settings:
        """Declares the spaces and returns the settings of a trial."""
        values: dict[str, Any] = {}
        for name, space in self.spaces.items():
            if name != "learning_rate" or "optimizer" not in values:
                values[name] = declare(hp, name, space)
                continue
            for optimizer in np.ravel(self.spaces["optimizer"]).tolist():
                rates = space[optimizer] if isinstance(space, Mapping) else space
                with hp.conditional_scope("optimizer", [optimizer]):
                    rate = declare(hp, f"{optimizer}_{name}", rates)
                if optimizer == values["optimizer"]:
                    values[name] = rate
        if "depth" in values:
            values["units"] = (values["units"],) * values.pop("depth")
        if "filters" in values:
            values["filters"] = tuple(values["filters"] * factor for factor in (1, 2, 4, 8))
        fields = {_FIELDS.get(name, name): value for name, value in values.items()}
        return self.settings.replace({self.names[name]: fields[name] for name in fields})

    def run(self, hp: keras_tuner.HyperParameters) -> dict[str, float]:
        return self.train(self.build(hp))
