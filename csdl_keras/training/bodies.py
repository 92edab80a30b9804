"""The bodies of algorithms: how each network is built and trained."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import keras
import numpy as np

from csdl_keras import models
from csdl_keras.training.body import Body
from csdl_keras.training.choices import Choices, count, layer_sizes, one_of, positive, share


@dataclasses.dataclass(frozen=True, kw_only=True)
class MLP(Body):
    """The paper's fully-connected network, `models.mlp`, trained by SGD with momentum.

    Args:
        hidden_units: units of each hidden layer. Defaults to `(500, 500, 500)`.
        momentum: momentum of SGD. Defaults to 0.9.
        **choices: see `Body`; 25 epochs of batches of 100 at a learning rate of 0.2
            by default.

    Example:

    >>> MLP(hidden_units=(20,), epochs=3).epochs
    3
    """

    hidden_units: tuple[int, ...] = layer_sizes((500, 500, 500))
    learning_rate: float = positive(0.2, serves="optimizer")
    momentum: float = share(0.9, serves="optimizer")

    can_pretrain: ClassVar[bool] = True

    def build(self, x: np.ndarray, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        return models.mlp(x.shape[1:], num_outputs, self.hidden_units, output=output, seed=seed)

    def optimizer(self, steps: int, on_costs: bool) -> keras.optimizers.Optimizer:
        return keras.optimizers.SGD(self.learning_rate, momentum=self.momentum)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaffeCNN(Body):
    """The paper's convolutional network, Caffe's `models.caffe_cifar10`.

    It is trained by SGD with momentum 0.9, at a rate that falls to 0 by a half cosine.

    Args:
        variant: `"quick"` (default) or `"full"`.
        **choices: see `Body`; 8 epochs of batches of 25 by default.

    Example:

    >>> CaffeCNN().variant
    'quick'
    """

    variant: str = one_of("quick", ("quick", "full"))
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
        return keras.optimizers.SGD(rate, momentum=0.9)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AutoNetwork(Body):
    """The network of the default algorithms, chosen from the shape of an input.

    Images `(height, width, channels)` get `models.convnet`, all else `models.tabular`.
    They are trained by AdamW, at a rate that rises for a twentieth of the updates and falls to
    0 by a half cosine. For images, which are shifted at random, the last epoch is kept; for
    tables the epoch of the lowest validation loss, which depends on no cost matrix.

    Args:
        color_epochs: epochs on images of several channels, which take longer to learn.
            Defaults to 36.
        table_epochs: epochs on tables. Defaults to 30.
        clipnorm: largest norm of the gradient when training on costs, where a few examples
            may cost far more than the others; `None` for no limit. Defaults to 1.
        **choices: see `Body`; 12 epochs (of images without colors) of batches of 50 at a
            learning rate of 0.003, and at least 1000 updates, by default.

    Example:

    >>> AutoNetwork().epochs_on((100_000, 28, 28, 1)), AutoNetwork().epochs_on((100, 4))
    (12, 500)
    """

    epochs: int = count(12, serves="schedule")
    color_epochs: int = count(36, serves="schedule")
    table_epochs: int = count(30, serves="schedule")
    batch_size: int = count(50)
    learning_rate: float = positive(3e-3)
    patience: int | None = count(None, serves="schedule", optional=True)
    min_steps: int = count(1000, serves="schedule")
    clipnorm: float | None = positive(1.0, optional=True)

    has_features: ClassVar[bool] = True
    takes_frames: ClassVar[bool] = True

    def build(self, x: Any, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        if x.ndim != 4:
            return models.tabular(x, num_outputs, output=output, seed=seed)
        sides = x.shape[1:3]
        return models.convnet(
            x.shape[1:],
            num_outputs,
            # Small images are cheap, so they can have the wider network that they need.
            filters=(32, 64, 128) if math.prod(sides) <= 256 else (16, 32, 64),
            # Two pixels of 28, and at least a whole pixel.
            shift=min(0.5, max(0.07, 1 / max(sides))),
            output=output,
            seed=seed,
        )

    def epochs_on(self, shape: Sequence[int]) -> int:
        if len(shape) != 4:
            epochs = self.table_epochs
        else:
            epochs = self.color_epochs if shape[-1] > 1 else self.epochs
        batches = math.ceil(shape[0] / self.batch_size)
        return max(epochs, math.ceil(self.min_steps / batches))

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

    def limit_epochs(self, epochs: int) -> Self:
        return dataclasses.replace(
            self, epochs=epochs, color_epochs=epochs, table_epochs=epochs, min_steps=1
        )

    def describe_for(self, on_costs: bool) -> dict[str, Any]:
        return {**self.describe(), "clipnorm": self.clipnorm if on_costs else None}


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
