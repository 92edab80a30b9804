"""Checks of what is handed on to `fit`, which Keras looks at only once it trains."""

from typing import Any

import keras

from csdl_keras._checks import check_integer, check_type
from csdl_keras.stage_cache import StageCache

#: Keras hands it to NumPy, which takes no larger one.
LARGEST_SEED = 2**32 - 1
#: The largest integer that an array holds.
LARGEST_INTEGER = 2**63 - 1


def check_callbacks(callbacks: Any) -> list[keras.callbacks.Callback]:
    """Returns `callbacks` as a list if they are callbacks of Keras."""
    known = isinstance(callbacks, (list, tuple))
    if not known or not all(isinstance(one, keras.callbacks.Callback) for one in callbacks):
        raise ValueError(
            f"Expected `callbacks` to be a list of Keras callbacks; received {callbacks!r}."
        )
    return list(callbacks)


def check_optimizer(identifier: Any) -> keras.optimizers.Optimizer:
    """The optimizer of that name or config, or the instance itself."""
    what = "the name, config or instance of an optimizer of Keras"
    try:
        found = keras.optimizers.get(identifier)
    except Exception as error:  # Keras raises one for each kind of what it does not know
        raise ValueError(f"Expected `optimizer` to be {what}; received {identifier!r}.") from error
    return check_type("optimizer", found, keras.optimizers.Optimizer, what)


def check_verbose(verbose: Any) -> Any:
    """Returns `verbose` if Keras knows it."""
    if not isinstance(verbose, (str, int)) or verbose not in ("auto", 0, 1, 2):
        raise ValueError(f"Expected `verbose` to be 'auto', 0, 1 or 2; received {verbose!r}.")
    return verbose


def check_cache(cache: Any, seed: int | None) -> StageCache | None:
    """Returns `cache` if it is a `StageCache`, which comes with a seed, or `None`."""
    if cache is None:
        return None
    if not isinstance(cache, StageCache):
        raise ValueError(f"Expected `cache` to be a StageCache or None; received {cache!r}.")
    if seed is None:
        raise ValueError(
            "Expected a `seed` with a `cache`, so that what is found there is what would be "
            "trained; received None."
        )
    return cache


def check_batch_size(batch_size: Any) -> int | None:
    """Returns the size of batches in which Keras predicts, if it is one; `None` is Keras' own."""
    return None if batch_size is None else check_integer("batch_size", batch_size)
