"""Seeds of the parts of a model."""

import random
from typing import Any

import keras

from csdl_keras._utils.checks import check_integer


class Seeds:
    """Draws seeds from a single one for some `purpose`, or returns `None` if that is `None`."""

    def __init__(self, seed: int | None, purpose: str = ""):
        self._generator = None
        if seed is not None:
            seed = check_integer("seed", seed, low=0)  # also NumPy's
            self._generator = random.Random(f"{purpose} {seed}" if purpose else seed)

    def next(self) -> int | None:
        return None if self._generator is None else self._generator.randint(1, 10**9)

    def initializer(self, identifier: Any) -> Any:
        """Returns a new initializer, with the next seed if it has none of its own."""
        found = keras.initializers.get(identifier)
        if not isinstance(found, keras.initializers.Initializer):
            return found
        config = found.get_config()
        if config.get("seed", self) is not None:
            return found
        return type(found).from_config({**config, "seed": self.next()})


def member_seed(seed: int | None, member: int) -> int | None:
    """Returns the seed of a network of an ensemble; the first one has the ensemble's own."""
    return seed if member == 0 else Seeds(seed, f"member {member}").next()
