"""How many steps of training run without a return to Python."""

import math

import keras

#: More gain next to nothing, and Ctrl-C and callbacks wait for the last of them.
MOST = 32


def executed_steps(examples: int, batch_size: int, steps_per_epoch: int | None = None) -> int:
    """`steps_per_execution` of `keras.Model.compile` for an epoch over arrays.

    What a step of a small network takes beside arithmetic shrinks to a third; its
    results are the same. PyTorch's `fit` has nothing but 1.
    """
    if keras.backend.backend() == "torch":
        return 1
    return min(MOST, steps_per_epoch or math.ceil(examples / batch_size))
