"""How networks are trained, one set of choices for every algorithm."""

import dataclasses
import math

from csdl_keras._checks import check_integer, check_number


@dataclasses.dataclass(frozen=True)
class Settings:
    """The choices that all algorithms share, so that they differ by stages alone.

    Args:
        hidden_units: units of the hidden layers of every fully-connected row.
        batch_size: examples a batch, in every stage.
        epochs: most epochs of training the fully-connected network.
        learning_rate: of SGD with momentum .9, in training the fully-connected network.
        pretraining_epochs: epochs for each layer.
        pretraining_learning_rate: of Adam.
        corruption: probability of zeroing an input in pre-training.
        beta: balance between reconstruction and costs in CAE and SEAE rows.
        cnn_epochs: most epochs of training the convolutional network.
        cnn_batch_size: examples a batch for it.
        cnn_learning_rate: of SGD with momentum .9, falling to 0 by a half cosine.
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
    pretraining_epochs: int = 10
    pretraining_learning_rate: float = 1e-3
    corruption: float = 0.25
    beta: float = 0.25
    cnn_epochs: int = 8
    cnn_batch_size: int = 25
    cnn_learning_rate: float = 1e-3
    patience: int = 10
    min_steps: int = 800

    def __post_init__(self) -> None:
        units = tuple(check_integer("hidden_units", size) for size in self.hidden_units)
        object.__setattr__(self, "hidden_units", units)
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in ("corruption", "beta"):
                check_number(field.name, value, 0, 1)
            elif field.name.endswith("learning_rate"):
                check_number(field.name, value, 0, exclude_low=True)
            elif field.name != "hidden_units":
                check_integer(field.name, value)

    def limit_epochs(self, epochs: int) -> "Settings":
        """A copy that trains at most `epochs` epochs, and pre-trains no longer than that."""
        check_integer("epochs", epochs)
        return dataclasses.replace(
            self,
            epochs=epochs,
            cnn_epochs=epochs,
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
        if body == "mlp":
            epochs, batch_size = self.epochs, self.batch_size
        else:
            epochs, batch_size = self.cnn_epochs, self.cnn_batch_size
        return math.ceil(self.min_steps / (epochs * math.ceil(train_size / batch_size)))
