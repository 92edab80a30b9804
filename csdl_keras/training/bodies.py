"""The bodies of algorithms: how each network is built and trained."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import keras
import numpy as np

from csdl_keras import models
from csdl_keras.fitting.descriptions import describe
from csdl_keras.training.body import Body
from csdl_keras.training.choices import Choices, count, layer_sizes, one_of, positive, share

_TABLE_EPOCHS = 30


@dataclasses.dataclass(frozen=True, kw_only=True)
class MLP(Body):
    """The paper's fully-connected network, `models.mlp`, trained by SGD with momentum or Adam.

    Args:
        hidden_units: units of each hidden layer. Defaults to `(500, 500, 500)`.
        optimizer_name: `"sgd"` (default) or `"adam"`, whose learning rates are about a hundredth
            of those of SGD.
        momentum: momentum of SGD. Defaults to 0.9.
        **choices: see `Body`; 25 epochs of batches of 100 at a learning rate of 0.2
            by default.

    Example:

    >>> MLP(hidden_units=(20,), epochs=3).epochs
    3
    """

    hidden_units: tuple[int, ...] = layer_sizes((500, 500, 500))
    learning_rate: float = positive(0.2, serves="optimizer")
    optimizer_name: str = one_of("sgd", ("sgd", "adam"), serves="optimizer")
    momentum: float = share(0.9, serves="optimizer")

    can_pretrain: ClassVar[bool] = True

    def build(self, x: np.ndarray, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        return models.mlp(x.shape[1:], num_outputs, self.hidden_units, output=output, seed=seed)

    def optimizer(self, steps: int, on_costs: bool) -> keras.optimizers.Optimizer:
        if self.optimizer_name == "adam":
            return keras.optimizers.Adam(self.learning_rate)
        return keras.optimizers.SGD(self.learning_rate, momentum=self.momentum)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaffeCNN(Body):
    """The paper's convolutional network, Caffe's `models.caffe_cifar10`.

    It is trained by SGD with momentum 0.9 or by Adam, at a rate that falls to 0 by a half cosine.

    Args:
        variant: `"quick"` (default) or `"full"`.
        optimizer_name: `"sgd"` (default) or `"adam"`.
        **choices: see `Body`; 8 epochs of batches of 25 by default.

    Example:

    >>> CaffeCNN().variant
    'quick'
    """

    variant: str = one_of("quick", ("quick", "full"))
    optimizer_name: str = one_of("sgd", ("sgd", "adam"), serves="optimizer")
    epochs: int = count(8, serves="schedule")
    batch_size: int = count(25)

    takes_images: ClassVar[bool] = True

    def build(self, x: np.ndarray, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        mean = 255.0 * x.mean(axis=0)
        return models.caffe_cifar10(
            x.shape[1:], num_outputs, variant=self.variant, output=output, mean=mean, seed=seed
        )

    def optimizer(self, steps: int, on_costs: bool) -> keras.optimizers.Optimizer:
        rate = keras.optimizers.schedules.CosineDecay(self.learning_rate, steps)
        if self.optimizer_name == "adam":
            return keras.optimizers.Adam(rate)
        return keras.optimizers.SGD(rate, momentum=0.9)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AutoNetwork(Body):
    """The network of the default algorithms, chosen from the shape of an input.

    Images `(height, width, channels)` get `models.convnet`, all else `models.tabular`. Images
    whose values in training are not from 0 to 1 are rescaled to that within the network.
    They are trained by AdamW, at a rate that rises for a twentieth of the updates and falls to
    0 by a half cosine. Images are shifted at random, and from a sixth of the epochs on rotated,
    zoomed and flipped as far as held-out classes survive that, see `training.EFFORTS`; the last
    epoch is kept, and outputs are averaged over shifted copies of an image. For tables the
    epoch of the lowest validation loss is kept, which depends on no cost matrix.

    Args:
        epochs: epochs; `None` (default) are those of the effort on images, 30 on tables.
        filters: filters of each block of `models.convnet`; `None` (default) are those of the
            effort, and `(32, 64, 128)` for images of 256 pixels at most.
        label_smoothing: share of a label that is spread over all classes when training
            probabilities on images, if a calibration follows that undoes it. Defaults to 0.05.
        clipnorm: largest norm of the gradient when training on costs, where a few examples
            may cost far more than the others; `None` for no limit. Defaults to 1.
        **choices: see `Body`; batches of 50 at a learning rate of 0.003, and at least 1000
            updates, by default.

    Example:

    >>> AutoNetwork().epochs_on((100_000, 28, 28, 1)), AutoNetwork().epochs_on((100, 4))
    (20, 500)
    """

    # `Any`, since no number of epochs is known without a shape.
    epochs: Any = count(None, serves="schedule", optional=True)
    filters: tuple[int, ...] | None = layer_sizes(None, optional=True)
    batch_size: int = count(50)
    learning_rate: float = positive(3e-3)
    patience: int | None = count(None, serves="schedule", optional=True)
    min_steps: int = count(1000, serves="schedule")
    label_smoothing: float = share(0.05)
    clipnorm: float | None = positive(1.0, optional=True)

    has_features: ClassVar[bool] = True
    takes_frames: ClassVar[bool] = True

    def build(self, x: Any, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        if x.ndim != 4:
            return models.tabular(x, num_outputs, output=output, seed=seed)
        return models.convnet(
            x.shape[1:],
            num_outputs,
            filters=self.filters_on(x.shape),
            # Two pixels of 28, and at least a whole pixel.
            shift=min(0.5, max(0.07, 1 / max(x.shape[1:3]))),
            output=output,
            seed=seed,
            value_range=_value_range(x),
        )

    def filters_on(self, shape: Sequence[int]) -> tuple[int, ...]:
        if len(shape) != 4:
            return ()
        if self.filters is not None:
            return self.filters
        # Small images are cheap, so they can have the wider network that they need.
        return (32, 64, 128) if math.prod(shape[1:3]) <= 256 else self.level.filters

    def networks_on(self, shape: Sequence[int]) -> int:
        return self.level.image_networks if len(shape) == 4 else self.level.table_networks

    def smoothing_on(self, shape: Sequence[int]) -> float:
        return self.label_smoothing if len(shape) == 4 else 0.0

    def augments(self, x: np.ndarray) -> bool:
        return x.ndim == 4

    def epochs_on(self, shape: Sequence[int]) -> int:
        batches = math.ceil(shape[0] / self.batch_size)
        return max(self._asked_epochs(shape), math.ceil(self.min_steps / batches))

    def patience_on(self, shape: Sequence[int]) -> int:
        epochs = self.epochs_on(shape)
        if self.patience is None:
            return epochs
        return self.patience * math.ceil(epochs / self._asked_epochs(shape))

    def monitor(self, x: np.ndarray) -> str | None:
        return None if x.ndim == 4 else "val_loss"

    def stacks(self, x: np.ndarray) -> bool:
        return x.ndim != 4

    def optimizer(self, steps: int, on_costs: bool) -> keras.optimizers.Optimizer:
        warmup = max(1, steps // 20)
        rate = keras.optimizers.schedules.CosineDecay(
            0.0,
            max(1, steps - warmup),
            warmup_target=self.learning_rate,
            warmup_steps=warmup,
        )
        # One costly example among many cheap ones would outweigh all the others.
        clip = self.clipnorm if on_costs else None
        return keras.optimizers.AdamW(rate, weight_decay=0.01, global_clipnorm=clip)

    def describe_for(self, on_costs: bool) -> dict[str, Any]:
        # The effort says how wide the network is where `filters` do not.
        filters = self.filters or self.level.filters
        clip = self.clipnorm if on_costs else None
        return {**self.describe(), "filters": describe(filters), "clipnorm": clip}

    def _asked_epochs(self, shape: Sequence[int]) -> int:
        if self.epochs is not None:
            return self.epochs
        return self.level.epochs_on(shape) if len(shape) == 4 else _TABLE_EPOCHS


def _value_range(x: np.ndarray) -> tuple[float, float]:
    """Returns the range of values of training images that a network has to know; (0, 1) if none.

    Images that were divided by 255 but have no white pixel are taken to be from 0 to 1, too.
    """
    low, high = float(x.min()), float(x.max())
    usual = low >= 0 and 0.1 <= high <= 1
    return (0.0, 1.0) if usual or low == high else (low, high)


@dataclasses.dataclass(frozen=True, kw_only=True)
class KernelMachine(Choices):
    """The kernel machine `baselines.CSOSR`, the only body that is no network.

    Args:
        penalty: penalty of violations. Defaults to 1.
        gamma_factor: `gamma` of the Gaussian kernel times the number of inputs and their
            variance, so that one range suits all data. Defaults to 1.

    Example:

    >>> KernelMachine(penalty=10).penalty
    10.0
    """

    penalty: float = positive(1.0)
    gamma_factor: float = positive(1.0)

    is_network: ClassVar[bool] = False
    can_pretrain: ClassVar[bool] = False
    has_features: ClassVar[bool] = False
    takes_frames: ClassVar[bool] = False
    takes_images: ClassVar[bool] = False

    def describe_for(self, on_costs: bool) -> dict[str, Any]:
        """Describes the choices that training depends on."""
        return self.describe()


#: Bodies by their names in an `Algorithm` and in `Settings`.
BODIES: dict[str, type[Body] | type[KernelMachine]] = {
    "mlp": MLP,
    "cnn": CaffeCNN,
    "svm": KernelMachine,
    "auto": AutoNetwork,
}
