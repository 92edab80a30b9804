"""The loop that the tests of metrics compare with, and the examples that they share."""

import numpy as np

LABELS = np.array([0, 2, 1, 2, 0, 1, 1])
# The second row ties two decisions, the third all.
OUTPUTS = np.array(
    [[1, 2, 3], [2, 1, 1], [4, 4, 4], [0.5, -1, 0], [3, 2, 1], [0, 0, 1], [9, 8, 9]], "float32"
)
# The second row ties two decisions as well, the sixth the first two.
PROBABILITIES = (
    np.array(
        [[1, 2, 5], [4, 2, 2], [2, 3, 3], [0, 0, 8], [3, 4, 1], [4, 4, 0], [2, 2, 4]], "float32"
    )
    / 8
)
BY_KIND = {"cost": (OUTPUTS, None), "probability": (PROBABILITIES, "softmax")}
ONE_COLUMN = np.array([[0.25], [0.75], [0.5], [1.0], [0.0], [0.625], [0.375]], "float32")


def decide(outputs, output="cost"):
    """The lowest index of the smallest cost or the largest probability of one example."""
    if output == "probability":
        outputs = [1 - outputs[0], outputs[0]] if len(outputs) == 1 else outputs
        outputs = [-value for value in outputs]
    best = 0
    for k in range(len(outputs)):
        if outputs[k] < outputs[best]:
            best = k
    return best
