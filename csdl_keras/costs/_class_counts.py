"""How many examples each class has."""

import numpy as np


def class_counts(labels: np.ndarray, num_classes: int) -> np.ndarray:
    """Counts the examples of each class; raises where a class has none."""
    # Of more classes than examples one of the first is absent, and the rest need no look.
    looked_at = np.arange(min(num_classes, len(labels) + 1))
    absent = np.setdiff1d(looked_at, labels)
    if len(absent):
        raise ValueError(
            f"Expected at least one example of each of the {num_classes} classes in `labels`; "
            f"received none of class(es) {absent[:10].tolist()}."
        )
    return np.bincount(labels, minlength=num_classes)
