"""Efforts of training: seconds, minutes or most of an hour."""

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Effort:
    """A point on the front of cost against seconds.

    Args:
        networks: networks whose outputs are averaged, of the paper's algorithms and of bodies of
            your own.
        image_networks: the same of the default algorithms on images.
        table_networks: the same on tables.
        epochs: epochs on images of one channel.
        color_epochs: epochs on images of several channels, which take longer to learn.
        filters: filters of `models.convnet`.
    """

    networks: int
    image_networks: int
    table_networks: int
    epochs: int
    color_epochs: int
    filters: tuple[int, ...]

    def epochs_on(self, shape: Sequence[int]) -> int:
        """Returns the epochs on images `(N, height, width, channels)`."""
        return self.color_epochs if shape[-1] > 1 else self.epochs


#: Efforts by name, see `csdl_keras.train`.
EFFORTS: dict[str, Effort] = {
    "quick": Effort(
        networks=1,
        image_networks=1,
        table_networks=1,
        epochs=20,
        color_epochs=36,
        filters=(16, 32, 64),
    ),
    "balanced": Effort(
        networks=5,
        image_networks=2,
        table_networks=5,
        epochs=20,
        color_epochs=36,
        filters=(32, 64, 128),
    ),
    "best": Effort(
        networks=10,
        image_networks=4,
        table_networks=10,
        epochs=50,
        color_epochs=36,
        filters=(32, 64, 128),
    ),
}
