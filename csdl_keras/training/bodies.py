"""The bodies of algorithms: how each network is built and trained."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import keras
import numpy as np

from csdl_keras._utils.checks import check_choice, check_integer, check_number, check_type
from csdl_keras.models.caffe_cifar10 import caffe_cifar10
from csdl_keras.models.convnet import convnet
from csdl_keras.models.mlp import mlp
from csdl_keras.models.tabular import tabular
from csdl_keras.training.kernel_muon import KernelMuon
from csdl_keras.training.linear_decay import LinearDecay


@dataclasses.dataclass(frozen=True, kw_only=True)
class Choices:
    """Base class of frozen dataclasses that check fields made by `choice` and similar functions."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            check = field.metadata.get("check")
            if check is not None:
                object.__setattr__(self, field.name, check(field.name, getattr(self, field.name)))


def choice(default: Any, check: Callable[..., Any], optional: bool = False, **limits: Any) -> Any:
    """Returns a field checked by `check(name, value, **limits)`; `optional` allows `None`."""

    def checked(name: str, value: object) -> Any:
        return None if optional and value is None else check(name, value, **limits)

    return dataclasses.field(default=default, metadata={"check": checked})


def positive(default: float | None, optional: bool = False) -> Any:
    """Returns a field for a number above 0."""
    return choice(default, check_number, optional, low=0, exclude_low=True)


def share(default: float) -> Any:
    """Returns a field for a number in [0, 1]."""
    return choice(default, check_number, low=0, high=1)


def _check_sizes(name: str, value: object) -> tuple[int, ...]:
    given = check_type(name, value, (tuple, list), "a tuple of integers")
    return tuple(check_integer(name, size) for size in given)


@dataclasses.dataclass(frozen=True)
class Effort:
    """A trade-off between cost and training time.

    Args:
        networks: number of networks whose outputs are averaged, for the paper's algorithms.
        image_networks, table_networks: the same for the default algorithms.
        epochs, color_epochs: epochs on images with one channel, and with several.
        filters: filters of `models.convnet`.
    """

    networks: int
    image_networks: int
    table_networks: int
    epochs: int
    color_epochs: int
    filters: tuple[int, ...]


#: Efforts by name, see `csdl_keras.train`.
EFFORTS: dict[str, Effort] = {
    "quick": Effort(1, 1, 1, epochs=20, color_epochs=36, filters=(16, 32, 64, 128)),
    "balanced": Effort(5, 2, 5, epochs=20, color_epochs=36, filters=(24, 48, 96, 192)),
    "best": Effort(10, 4, 10, epochs=65, color_epochs=48, filters=(24, 48, 96, 192)),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Body(Choices):
    """Base class of networks: builds a network and defines how it is trained.

    For your own network, implement `build` in a subclass, and pass an instance to `Algorithm`
    instead of a name. Make the subclass a frozen dataclass if it has its own settings. A cache
    keeps its training if it has a `version`, see `csdl_keras.StageCache`.

    Args:
        epochs: maximum number of epochs. Defaults to 25.
        batch_size: batch size. Defaults to 100.
        learning_rate: learning rate of the optimizer. Defaults to 0.001.
        patience: epochs without improvement of the loss or the decisions on validation examples
            after which training stops; `None` never stops. Defaults to 10.
        min_steps: minimum number of updates. If the epochs give fewer, epochs and patience are
            multiplied by a whole number. Defaults to 800.
        effort: as in `csdl_keras.train`, whose argument overrides it. Defaults to `"quick"`.

    Example:

    >>> import numpy as np
    >>> from csdl_keras import models, training
    >>> class Linear(training.Body):
    ...     def build(self, x, num_outputs, output, seed):
    ...         return models.mlp(x.shape[1:], num_outputs, (), output=output, seed=seed)
    >>> Linear(epochs=3).build(np.zeros((5, 4)), 2, "cost", seed=0).output_shape
    (None, 2)
    """

    epochs: int = choice(25, check_integer)
    batch_size: int = choice(100, check_integer)
    learning_rate: float = positive(1e-3)
    patience: int | None = choice(10, check_integer, optional=True)
    min_steps: int = choice(800, check_integer)
    effort: str = choice("quick", check_choice, choices=EFFORTS)

    #: Whether it is a network; kernel machines are not.
    is_network: ClassVar[bool] = True
    #: Whether its hidden layers can be pre-trained, see `hidden_layers`.
    can_pretrain: ClassVar[bool] = False
    #: Whether `build` accepts a `Table`, with categories and missing values.
    takes_frames: ClassVar[bool] = False
    #: Whether its inputs must be images in [0, 1].
    takes_images: ClassVar[bool] = False
    #: Fields that affect neither the untrained network nor its pre-training.
    of_training: ClassVar[tuple[str, ...]] = ()

    def build(self, x: np.ndarray, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        """Returns the untrained network.

        Args:
            x: training inputs `(N, ...)`, or one input of zeros in a search.
            num_outputs: number of classes, or of decisions if it outputs costs.
            output: `"probability"`, `"cost"` or, for `"expected_cost"`, `"features"`.
            seed: seed of the weights, or `None`.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement `build`.")

    def optimizer(self, shape: Sequence[int], on_costs: bool) -> keras.optimizers.Optimizer:
        """Returns the optimizer for inputs of that shape, for training on costs or on labels."""
        return keras.optimizers.Adam(self.learning_rate)

    def monitor(self, shape: Sequence[int]) -> str | None:
        """Returns the metric for early stopping; `None` keeps the last epoch."""
        return "val_average_cost"

    def augments(self, shape: Sequence[int]) -> bool:
        """Returns whether images are augmented in training, and views averaged afterwards."""
        return False

    def networks_on(self, shape: Sequence[int]) -> int:
        """Returns the default number of networks whose outputs are averaged."""
        return EFFORTS[self.effort].networks

    def stretch(self, size: int) -> int:
        """Returns the factor for epochs that yields `min_steps` updates on `size` examples."""
        return math.ceil(self.min_steps / (self.epochs * math.ceil(size / self.batch_size)))

    def batch_on(self, shape: Sequence[int]) -> int:
        """Returns the batch size."""
        return self.batch_size

    def passes_on(self, shape: Sequence[int]) -> int:
        """Returns the number of passes over the examples in an epoch."""
        return 1

    def steps_on(self, shape: Sequence[int]) -> int:
        """Returns the maximum number of updates."""
        examples = shape[0] * self.passes_on(shape)
        return self.epochs_on(shape) * math.ceil(examples / self.batch_on(shape))

    def asked_epochs(self, shape: Sequence[int]) -> int:
        """Returns the number of epochs without regard to `min_steps`."""
        return self.epochs

    def epochs_on(self, shape: Sequence[int]) -> int:
        """Returns the maximum number of epochs on inputs of that shape, `(N, ...)`."""
        return self.epochs * self.stretch(shape[0])

    def patience_on(self, shape: Sequence[int]) -> int:
        """Returns the number of epochs without improvement before training stops."""
        epochs = self.epochs_on(shape)
        if self.patience is None:
            return epochs
        return self.patience * math.ceil(epochs / self.asked_epochs(shape))


@dataclasses.dataclass(frozen=True, kw_only=True)
class MLP(Body):
    """The paper's fully connected network, `models.mlp`, trained by SGD with momentum or Adam.

    Args:
        hidden_units: units of each hidden layer. Defaults to `(500, 500, 500)`.
        optimizer_name: `"sgd"` (default) or `"adam"`.
        momentum: momentum of SGD. Defaults to 0.9.
        **choices: see `Body`; the learning rate defaults to 0.2.

    Example:

    >>> from csdl_keras import training
    >>> training.MLP(hidden_units=(20,), epochs=3).epochs
    3
    """

    hidden_units: tuple[int, ...] = choice((500, 500, 500), _check_sizes)
    learning_rate: float = positive(0.2)
    optimizer_name: str = choice("sgd", check_choice, choices=("sgd", "adam"))
    momentum: float = share(0.9)

    can_pretrain = True
    of_training = ("epochs", "learning_rate", "min_steps", "momentum", "optimizer_name", "patience")

    def build(self, x: np.ndarray, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        return mlp(x.shape[1:], num_outputs, self.hidden_units, output=output, seed=seed)

    def optimizer(self, shape: Sequence[int], on_costs: bool) -> keras.optimizers.Optimizer:
        if self.optimizer_name == "adam":
            return keras.optimizers.Adam(self.learning_rate)
        return keras.optimizers.SGD(self.learning_rate, momentum=self.momentum)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaffeCNN(Body):
    """The paper's convolutional network, `models.caffe_cifar10`, trained with cosine decay.

    Args:
        variant: `"quick"` (default) or `"full"`.
        optimizer_name: `"sgd"` (default), with momentum 0.9, or `"adam"`.
        **choices: see `Body`; by default 8 epochs with batches of 25.

    Example:

    >>> from csdl_keras import training
    >>> training.CaffeCNN().variant
    'quick'
    """

    variant: str = choice("quick", check_choice, choices=("quick", "full"))
    optimizer_name: str = choice("sgd", check_choice, choices=("sgd", "adam"))
    epochs: int = choice(8, check_integer)
    batch_size: int = choice(25, check_integer)

    takes_images = True

    def build(self, x: np.ndarray, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        mean = 255.0 * x.mean(axis=0)
        return caffe_cifar10(
            x.shape[1:], num_outputs, variant=self.variant, output=output, mean=mean, seed=seed
        )

    def optimizer(self, shape: Sequence[int], on_costs: bool) -> keras.optimizers.Optimizer:
        rate = keras.optimizers.schedules.CosineDecay(self.learning_rate, self.steps_on(shape))
        if self.optimizer_name == "adam":
            return keras.optimizers.Adam(rate)
        return keras.optimizers.SGD(rate, momentum=0.9)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AutoNetwork(Body):
    """The network of the default algorithms, which depends on the shape of the inputs.

    Images `(height, width, channels)` get `models.convnet`, other inputs `models.tabular`. Muon
    trains the kernels of convolutions, AdamW all other weights. Images are shifted at random, and
    after a sixth of the epochs rotated, zoomed and flipped as far as held-out accuracy does not
    suffer. The last epoch is kept, and outputs are averaged over shifted copies. On tables, the
    learning rate falls to 0 four times, each time in twice as many epochs, so that four lengths of
    training are tried; the epoch with the lowest validation loss is kept.

    Args:
        epochs: number of epochs; `None` (default) follows the effort on images, and is 30 on
            tables.
        filters: filters of each block of `models.convnet`; `None` (default) follows the effort, but
            is `(32, 64, 128)` for images of at most 256 pixels.
        batch_size: batch size; `None` (default) is 100 images or 200 rows.
        learning_rate: the highest learning rate of AdamW; that of Muon is five times as high.
            `None` (default) is 0.003 on images, 0.005 on tables.
        patience: as in `Body`; `None` (default) is half of the epochs.
        label_smoothing: label smoothing, which is used only if a calibration follows. Defaults to
            0.05.
        clipnorm: maximum norm of the gradient when training on costs; `None` for no limit.
            Defaults to 1.
        min_steps: minimum number of updates. To reach it, small sets of images are trained for more
            epochs, and an epoch passes over a small table several times. `None` (default) is 500
            on images, 1000 on tables.
        **choices: see `Body`.

    Example:

    >>> from csdl_keras import training
    >>> network, table = training.AutoNetwork(), (1000, 4)
    >>> network.epochs_on(table), network.passes_on(table), network.batch_on(table)
    (30, 7, 200)
    """

    # The type is `Any`, since the defaults of these depend on the shape of the inputs.
    epochs: Any = choice(None, check_integer, optional=True)
    batch_size: Any = choice(None, check_integer, optional=True)
    learning_rate: Any = positive(None, optional=True)
    filters: tuple[int, ...] | None = choice(None, _check_sizes, optional=True)
    patience: int | None = choice(None, check_integer, optional=True)
    min_steps: Any = choice(None, check_integer, optional=True)
    label_smoothing: float = share(0.05)
    clipnorm: float | None = positive(1.0, optional=True)

    takes_frames = True

    def build(self, x: Any, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        if x.ndim != 4:
            return tabular(x, num_outputs, output=output, seed=seed)
        filters = self.filters
        if filters is None:
            # Small images need a wider network, which is fast on them.
            small = math.prod(x.shape[1:3]) <= 256
            filters = (32, 64, 128) if small else EFFORTS[self.effort].filters
        low, high = float(x.min()), float(x.max())
        if low == high or (low >= 0 and 0.1 <= high <= 1):
            low, high = 0.0, 1.0  # This is the range even if no pixel is white.
        return convnet(
            x.shape[1:],
            num_outputs,
            filters=filters,
            # Images are shifted by about 2 of 28 pixels, and by at least one.
            shift=min(0.5, max(0.07, 1 / max(x.shape[1:3]))),
            output=output,
            seed=seed,
            value_range=(low, high),
        )

    def networks_on(self, shape: Sequence[int]) -> int:
        effort = EFFORTS[self.effort]
        return effort.image_networks if len(shape) == 4 else effort.table_networks

    def augments(self, shape: Sequence[int]) -> bool:
        return len(shape) == 4

    def monitor(self, shape: Sequence[int]) -> str | None:
        return None if self.augments(shape) else "val_loss"

    def asked_epochs(self, shape: Sequence[int]) -> int:
        if self.epochs is not None:
            return self.epochs
        if len(shape) != 4:
            return 30
        effort = EFFORTS[self.effort]
        return effort.color_epochs if shape[-1] > 1 else effort.epochs

    def batch_on(self, shape: Sequence[int]) -> int:
        return self.batch_size or (100 if len(shape) == 4 else 200)

    def epochs_on(self, shape: Sequence[int]) -> int:
        asked = self.asked_epochs(shape)
        if not self.augments(shape):
            return asked
        batches = math.ceil(shape[0] / self.batch_on(shape))
        return max(asked, math.ceil((self.min_steps or 500) / batches))

    def passes_on(self, shape: Sequence[int]) -> int:
        if self.augments(shape):
            return 1
        # Validation takes as long as several updates, so short epochs would be slow.
        examples = (self.min_steps or 1000) * self.batch_on(shape)
        return math.ceil(examples / (self.epochs_on(shape) * shape[0]))

    def patience_on(self, shape: Sequence[int]) -> int:
        if self.patience is None:
            return math.ceil(self.epochs_on(shape) / 2)
        return super().patience_on(shape)

    def optimizer(self, shape: Sequence[int], on_costs: bool) -> keras.optimizers.Optimizer:
        steps = self.steps_on(shape)
        # Without a limit, one costly example would outweigh many cheap ones.
        common = {"weight_decay": 0.01, "global_clipnorm": self.clipnorm if on_costs else None}
        if len(shape) == 4:
            rate = LinearDecay(5 * (self.learning_rate or 3e-3), steps, max(1, steps // 20))
            return KernelMuon(rate, adam_lr_ratio=1 / 5, adam_weight_decay=0.01, **common)
        # There are four cycles, of 1/15, 2/15, 4/15 and 8/15 of the updates.
        rate = keras.optimizers.schedules.CosineDecayRestarts(
            self.learning_rate or 5e-3, steps / 15, t_mul=2.0
        )
        return keras.optimizers.AdamW(rate, **common)


@dataclasses.dataclass(frozen=True, kw_only=True)
class KernelMachine(Choices):
    """The kernel machine `baselines.CSOSR`, the only body that is not a network.

    Args:
        penalty: penalty for violations. Defaults to 1.
        gamma_factor: `gamma` of the Gaussian kernel, multiplied by the number of inputs and their
            variance. Defaults to 1.

    Example:

    >>> from csdl_keras import training
    >>> training.KernelMachine(penalty=10).penalty
    10.0
    """

    penalty: float = positive(1.0)
    gamma_factor: float = positive(1.0)

    is_network = can_pretrain = takes_frames = takes_images = False


#: Bodies by their names in `Algorithm` and `Settings`.
BODIES: dict[str, type[Body] | type[KernelMachine]] = {
    "mlp": MLP,
    "cnn": CaffeCNN,
    "svm": KernelMachine,
    "auto": AutoNetwork,
}
