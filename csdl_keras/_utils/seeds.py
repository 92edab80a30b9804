"""Derives the seeds of a model's parts from a single seed."""

import random
from typing import Any

import keras

from csdl_keras._utils.checks import check_integer


class Seeds:
    """Draws seeds for some `purpose` from a single one; if that is `None`, returns `None`."""

    def __init__(self, seed: int | None, purpose: str = ""):
        self._generator = None
        if seed is not None:
            seed = check_integer("seed", seed, low=0)  # converts NumPy integers
            self._generator = random.Random(f"{purpose} {seed}" if purpose else seed)

    def next(self) -> int | None:
        return None if self._generator is None else self._generator.randint(1, 10**9)

    def initializer(self, identifier: Any) -> Any:
        """Returns an initializer; one without a seed is copied with the next seed."""
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
