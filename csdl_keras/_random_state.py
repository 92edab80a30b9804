"""Random numbers as scikit-learn takes them."""

import numbers
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from csdl_keras._fit_checks import LARGEST_SEED


def random_generator(random_state: Any) -> np.random.RandomState:
    """The generator that a `random_state` of scikit-learn stands for.

    Args:
        random_state: `None`, an integer from 0 to 2**32 - 1, or a
            `numpy.random.RandomState`.

    Raises:
        ValueError: if it is anything else.
    """
    known = random_state is None or isinstance(random_state, np.random.RandomState)
    whole = isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
    if not known and not (whole and 0 <= random_state <= LARGEST_SEED):
        raise ValueError(
            f"Expected `random_state` to be None, an integer from 0 to {LARGEST_SEED} or a "
            f"numpy.random.RandomState; received {random_state!r}."
        )
    return check_random_state(random_state)
