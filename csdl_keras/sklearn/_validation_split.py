"""Examples set apart for early stopping and calibration."""

import numpy as np


def validation_split(
    labels: np.ndarray, fraction: float, generator: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Indices of training and validation examples, every class divided in the same proportion.

    Every class keeps an example in training. Where fewer would be set apart than
    there are classes, which says too little, all are trained on.

    Args:
        labels: `(N,)` integers.
        fraction: of the examples, in [0, 1).
        generator: draws the examples.

    Returns:
        `(train, validation)`, both sorted; the second may be empty.

    Example:

    >>> labels = np.array([0, 1] * 10)
    >>> train, validation = validation_split(labels, 0.2, np.random.RandomState(0))
    >>> labels[validation].tolist(), len(train)
    ([0, 1, 0, 1], 16)
    """
    size = len(labels)
    order = np.lexsort((generator.uniform(size=size), labels))  # by class, shuffled within it
    # As evenly along that order as whole numbers can be.
    counts = np.floor(fraction * np.arange(size + 1) + 0.5)
    chosen = np.diff(counts) > 0
    chosen[np.flatnonzero(np.diff(labels[order], prepend=-1))] = False  # a class's first one
    if chosen.sum() < len(np.unique(labels)):
        chosen[:] = False
    return np.sort(order[~chosen]), np.sort(order[chosen])
