"""The error of a training that breaks down."""


class DivergedError(FloatingPointError):
    """Training has left the finite numbers, so that there is no model.

    Args:
        message: what diverged, when, and what the likely causes are.
        epoch: the epoch, counted from 1. Defaults to 0, unknown.

    Example:

    >>> DivergedError("Expected a finite loss; received nan in epoch 3.", epoch=3).epoch
    3
    """

    def __init__(self, message: str, epoch: int = 0):
        super().__init__(message)
        self.epoch = epoch
