"""How networks are trained, one set of choices for every algorithm."""

import dataclasses
import math
from typing import Any

from csdl_keras._utils.checks import (
    check_bool,
    check_choice,
    check_integer,
    check_number,
    check_type,
)

_POSITIVE = (
    "learning_rate",
    "pretraining_learning_rate",
    "cnn_learning_rate",
    "auto_learning_rate",
    "penalty",
    "gamma_factor",
)
_MOST = 10**9
_COUNTS = (
    "batch_size",
    "epochs",
    "pretraining_epochs",
    "cnn_epochs",
    "cnn_batch_size",
    "auto_epochs",
    "auto_color_epochs",
    "auto_batch_size",
    "auto_min_steps",
    "patience",
    "min_steps",
)


@dataclasses.dataclass(frozen=True)
class Settings:
    """The choices that all algorithms share, so that they differ by stages alone.

    Args:
        hidden_units: units of the hidden layers of every fully-connected row.
        batch_size: examples a batch, in every stage.
        epochs: most epochs of training the fully-connected network.
        learning_rate: of SGD in training the fully-connected network.
        momentum: of SGD in training the fully-connected network.
        hard_hinge: whether SOSR rows train with the hinge, `OneSidedLoss`, that
            SOSR smooths, as the authors' code does.
        pretraining_epochs: epochs for each layer.
        pretraining_learning_rate: of the optimizer of pre-training.
        pretraining_optimizer: `"adam"` or `"sgd"`.
        tied_weights: whether decoders in pre-training use the transposed
            weights, as in the authors' code.
        corruption: probability of zeroing an input in pre-training.
        beta: balance between reconstruction and costs in CAE and SEAE rows.
        cnn_variant: `"quick"` or `"full"`, see `caffe_cifar10`.
        cnn_epochs: most epochs of training the convolutional network.
        cnn_batch_size: examples a batch for it.
        cnn_learning_rate: of SGD with momentum .9, falling to 0 by a half cosine.
        auto_epochs: epochs of training the network of the default rows; more on
            sets so small that they make fewer than `auto_min_steps` updates.
        auto_color_epochs: the same for images of several channels, photographs and the
            like, which take longer to learn.
        auto_batch_size: examples a batch for it.
        auto_learning_rate: highest rate of AdamW for it.
        auto_min_steps: updates that its training takes at the least.
        auto_clipnorm: largest norm of its gradient where it trains on costs, of which
            a few may be far dearer than the rest; `None` for any.
        penalty: of `CSOSR`, for violations.
        gamma_factor: `gamma` of the Gaussian kernel of `CSOSR`, in units of 1
            over the number of inputs times their variance, so that one range
            suits all data.
        patience: epochs without a lower validation cost before training stops;
            the weights of the best epoch are kept.
        min_steps: updates that training may take at the least: on sets so small
            that its epochs give fewer, epochs and patience, and those of
            pre-training, are multiplied, see `stretch`.

    Raises:
        ValueError: if a value is out of range.

    Example:

    >>> Settings(hidden_units=(100,)).limit_epochs(3).epochs
    3
    """

    hidden_units: tuple[int, ...] = (500, 500, 500)
    batch_size: int = 100
    epochs: int = 25
    learning_rate: float = 0.2
    momentum: float = 0.9
    hard_hinge: bool = False
    pretraining_epochs: int = 10
    pretraining_learning_rate: float = 1e-3
    pretraining_optimizer: str = "adam"
    tied_weights: bool = False
    corruption: float = 0.25
    beta: float = 0.25
    cnn_variant: str = "quick"
    cnn_epochs: int = 8
    cnn_batch_size: int = 25
    cnn_learning_rate: float = 1e-3
    auto_epochs: int = 12
    auto_color_epochs: int = 36
    auto_batch_size: int = 50
    auto_learning_rate: float = 3e-3
    auto_min_steps: int = 1000
    auto_clipnorm: float | None = 1.0
    penalty: float = 1.0
    gamma_factor: float = 1.0
    patience: int = 10
    min_steps: int = 800

    def __post_init__(self) -> None:
        check_type("hidden_units", self.hidden_units, (tuple, list), "a tuple of integers")
        units = [check_integer("hidden_units", size, high=_MOST) for size in self.hidden_units]
        checked: dict[str, Any] = {"hidden_units": tuple(units)}
        check_choice("pretraining_optimizer", self.pretraining_optimizer, ("adam", "sgd"))
        check_choice("cnn_variant", self.cnn_variant, ("quick", "full"))
        for name in ("corruption", "beta", "momentum"):
            checked[name] = check_number(name, getattr(self, name), 0, 1)
        for name in (*_POSITIVE, "auto_clipnorm"):
            if name != "auto_clipnorm" or self.auto_clipnorm is not None:
                checked[name] = check_number(name, getattr(self, name), 0, exclude_low=True)
        for name in ("hard_hinge", "tied_weights"):
            check_bool(name, getattr(self, name))
        for name in _COUNTS:
            checked[name] = check_integer(name, getattr(self, name), high=_MOST)
        # As plain numbers, whatever library they come from: descriptions of stages are JSON.
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def limit_epochs(self, epochs: int) -> "Settings":
        """A copy that trains at most `epochs` epochs, and pre-trains no longer than that."""
        check_integer("epochs", epochs)
        return dataclasses.replace(
            self,
            epochs=epochs,
            cnn_epochs=epochs,
            auto_epochs=epochs,
            auto_color_epochs=epochs,
            auto_min_steps=1,
            pretraining_epochs=min(self.pretraining_epochs, epochs),
            min_steps=1,
        )

    def stretch(self, body: str, train_size: int) -> int:
        """By what epochs are multiplied so that training may take `min_steps` updates.

        Args:
            body: `"mlp"` or `"cnn"`.
            train_size: number of training examples.

        Returns:
            A whole number, 1 unless the training set is small.
        """
        check_choice("body", body, ("mlp", "cnn"))
        check_integer("train_size", train_size)
        if body == "mlp":
            epochs, batch_size = self.epochs, self.batch_size
        else:
            epochs, batch_size = self.cnn_epochs, self.cnn_batch_size
        return math.ceil(self.min_steps / (epochs * math.ceil(train_size / batch_size)))


def check_settings(settings: Any) -> Settings:
    """Returns `settings` if it is a `Settings`."""
    return check_type("settings", settings, Settings, "a Settings")
