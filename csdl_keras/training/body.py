"""The base class of networks that algorithms train."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import keras
import numpy as np

from csdl_keras.training.choices import Choices, count, one_of, positive
from csdl_keras.training.effort import EFFORTS, Effort


@dataclasses.dataclass(frozen=True, kw_only=True)
class Body(Choices):
    """Base class of networks: builds a network for its inputs and defines how it is trained.

    A network of your own is a subclass that implements `build`; make it a frozen
    dataclass if it has choices of its own. It goes into an `Algorithm` in place of a
    name. A cache keeps its stages if it has a `version`, see `csdl_keras.StageCache`.

    Args:
        epochs: maximum number of epochs. Defaults to 25.
        batch_size: examples in a batch. Defaults to 100.
        learning_rate: learning rate of the optimizer. Defaults to 0.001.
        patience: epochs in which neither the loss nor the decisions on validation examples
            improve before training stops; the weights of the epoch with the best decisions are
            kept. `None` never stops. Defaults to 10.
        min_steps: updates that training may take at least. On small training sets, where the
            epochs give fewer, epochs and patience are multiplied by a whole number. Defaults
            to 800.
        effort: `"quick"` (default), `"balanced"` or `"best"`, see `csdl_keras.train`, whose
            argument of that name replaces it.

    Raises:
        ValueError: if a value is out of range.

    Example:

    >>> from csdl_keras import models
    >>> class Linear(Body):
    ...     def build(self, x, num_outputs, output, seed):
    ...         return models.mlp(x.shape[1:], num_outputs, (), output=output, seed=seed)
    >>> Linear(epochs=3).build(np.zeros((5, 4)), 2, "cost", seed=0).output_shape
    (None, 2)
    """

    epochs: int = count(25, serves="schedule")
    batch_size: int = count(100)
    learning_rate: float = positive(1e-3)
    patience: int | None = count(10, serves="schedule", optional=True)
    min_steps: int = count(800, serves="schedule")
    effort: str = one_of("quick", EFFORTS, serves="schedule")

    #: Whether it is a network; kernel machines are not.
    is_network: ClassVar[bool] = True
    #: Whether its hidden layers can be pre-trained, see `hidden_layers`.
    can_pretrain: ClassVar[bool] = False
    #: Whether `build` takes `output="features"`, for the head of an objective.
    has_features: ClassVar[bool] = False
    #: Whether `build` takes the `Table` of a data frame, with categories and missing values.
    takes_frames: ClassVar[bool] = False
    #: Whether its inputs have to be images in [0, 1].
    takes_images: ClassVar[bool] = False

    def build(self, x: np.ndarray, num_outputs: int, output: str, seed: int | None) -> keras.Model:
        """Returns the untrained network.

        Args:
            x: training inputs `(N, ...)`, whose means a network may keep. A search builds
                its networks before it sees data, for one input of zeros.
            num_outputs: number of classes, or of decisions where it outputs costs.
            output: `"probability"`, `"cost"` or, if `has_features`, `"features"`.
            seed: seed of the weights, or `None`.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement `build`.")

    def optimizer(self, steps: int, on_costs: bool) -> keras.optimizers.Optimizer:
        """Returns the optimizer for at most `steps` updates, on costs or on labels alone."""
        return keras.optimizers.Adam(self.learning_rate)

    def monitor(self, x: np.ndarray) -> str | None:
        """Returns the metric that early stopping watches; `None` keeps the last epoch."""
        return "val_average_cost"

    def stacks(self, x: np.ndarray) -> bool:
        """Tells whether several of these networks train faster as one, see `fit_stacked`."""
        return False

    def smoothing_on(self, shape: Sequence[int]) -> float:
        """Returns the share of a label that is spread over all classes, see `Recipe`."""
        return 0.0

    def augments(self, x: np.ndarray) -> bool:
        """Tells whether images are changed in training, and views of them averaged afterwards."""
        return False

    def filters_on(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Returns the filters of its network; `()` if that is the same at every effort."""
        return ()

    @property
    def level(self) -> Effort:
        """The numbers behind the name of its effort."""
        return EFFORTS[self.effort]

    def networks_on(self, shape: Sequence[int]) -> int:
        """Returns the number of networks whose outputs are averaged, unless a call says it."""
        return self.level.networks

    def stretch(self, size: int) -> int:
        """Returns the factor of epochs that gives `min_steps` updates on `size` examples."""
        return math.ceil(self.min_steps / (self.epochs * math.ceil(size / self.batch_size)))

    def epochs_on(self, shape: Sequence[int]) -> int:
        """Returns the maximum number of epochs on inputs of that shape, `(N, ...)`."""
        return self.epochs * self.stretch(shape[0])

    def patience_on(self, shape: Sequence[int]) -> int:
        """Returns the epochs without improvement before training stops."""
        if self.patience is None:
            return self.epochs_on(shape)
        return self.patience * self.stretch(shape[0])

    def steps_on(self, shape: Sequence[int]) -> int:
        """Returns the maximum number of updates."""
        return self.epochs_on(shape) * math.ceil(shape[0] / self.batch_size)

    def limit_epochs(self, epochs: int) -> Self:
        """Returns a copy that trains at most `epochs` epochs."""
        return dataclasses.replace(self, epochs=epochs, min_steps=1)

    def describe_for(self, on_costs: bool) -> dict[str, Any]:
        """Describes the choices that training on costs, or on labels alone, depends on."""
        return self.describe()
